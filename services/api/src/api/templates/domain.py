"""Templates as values, and which of them may be sent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from api.content.domain.blueprint import Blueprint, blueprint_of
from api.content.domain.draft import ButtonDraft, Draft
from api.content.domain.grammar import PLACEHOLDER
from api.content.domain.grammar import variables_of as names_in
from api.refusals import Refusal, RefusedError
from contracts.values import Category, Environment

BODY_CHARS_MAX = 1_024
LINE_CHARS_MAX = 60
"""Of a header and a footer; public-api.md, templates."""

_SEPARATORS = re.compile(r"[\s./:_-]+")
_LAST = re.compile(PLACEHOLDER.pattern + r"\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template with its latest approved version; `body` is None if it has none.

    `foreign`: it belongs to another project of the same tenant. `environment` None means both TEST and LIVE.
    """

    template_id: UUID
    name: str
    category: Category
    body: str | None
    production_approved: bool
    environment: Environment | None = None
    foreign: bool = False


def body_to_send(template: Template | None, environment: Environment) -> str:
    """What to fill in; raises for a template that is unknown, of another project or environment, or not approved."""
    if template is None:
        raise RefusedError(Refusal.TEMPLATE_NOT_FOUND, field="templateId")
    if template.foreign:
        raise RefusedError(Refusal.TEMPLATE_PROJECT_MISMATCH, field="templateId")
    if template.environment not in (None, environment):
        raise RefusedError(Refusal.TEMPLATE_ENVIRONMENT_MISMATCH, field="templateId")
    if template.body is None:
        raise RefusedError(Refusal.NO_APPROVED_VERSION, field="templateId")
    if environment is Environment.LIVE and not template.production_approved:
        raise RefusedError(Refusal.TEMPLATE_NOT_APPROVED_FOR_PRODUCTION, field="templateId")
    return template.body


def variables_of(body: str) -> tuple[str, ...]:
    """The names a stored body asks for, in order of appearance."""
    return blueprint_of(body).variables()


class VersionState(StrEnum):
    """Where a version stands: its author submits it, an operator decides."""

    DRAFT = "DRAFT"
    SUBMITTED = "SUBMITTED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a template; `body` is stored as `content.domain.blueprint` reads it."""

    version: int
    state: VersionState
    body: str
    examples: Mapping[str, str] = field(default_factory=dict)
    approved_at: datetime | None = None
    production_approved: bool = False
    rejection_reason: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTemplate:
    """A template with its newest version and its newest approved one."""

    template_id: UUID
    project_id: UUID
    name: str
    category: Category
    environment: Environment | None
    language: str
    created_at: datetime
    latest: Version | None
    approved: Version | None

    def sendable(self, environment: Environment) -> bool:
        """Whether a key of this environment could send it now."""
        fits = self.environment in (None, environment)
        approved = self.approved
        return fits and approved is not None and (environment is Environment.TEST or approved.production_approved)


def normalise_name(name: str) -> str:
    """Letters and digits, every separator a `_`; raises for anything else."""
    normal = _SEPARATORS.sub("_", name.strip())
    if _NAME.fullmatch(normal) is None:
        raise RefusedError(
            Refusal.TEMPLATE_INVALID, "A name has 1 to 100 letters and digits, separated by `_`.", field="name"
        )
    return normal


def check_blueprint(blueprint: Blueprint, examples: Mapping[str, str]) -> None:
    """The published limits of a template, beyond the grammar; the first failing one raises, naming its field."""
    draft = blueprint.draft
    body = draft.text.strip()
    if len(draft.text) > BODY_CHARS_MAX:
        raise _invalid(f"The body may have {BODY_CHARS_MAX} characters.", "body.body")
    if PLACEHOLDER.match(body) or _LAST.search(body):
        raise _invalid("The body must not begin or end with a variable.", "body.body")
    if draft.footer is not None and names_in(draft.footer):
        raise _invalid("The footer takes no variables.", "body.footer")
    _check_header(draft)
    for position, button in enumerate(draft.buttons):
        _check_button(button, field=f"body.buttons.{position}")
    missing = [name for name in blueprint.variables() if not examples.get(name, "").strip()]
    if missing:
        details = {"details": {"missing": missing}}
        raise RefusedError(Refusal.TEMPLATE_EXAMPLES_REQUIRED, extras=details)


def next_version(template: StoredTemplate) -> int:
    """Where a change goes: a draft or rejected version is written over, any other is followed by a new one."""
    latest = template.latest
    if latest is None:
        return 1
    return latest.version if latest.state in (VersionState.DRAFT, VersionState.REJECTED) else latest.version + 1


def check_category(template: StoredTemplate, category: Category | None) -> None:
    """A template keeps its category."""
    if category not in (None, template.category):
        raise _invalid("The category of a template cannot be changed.", "category")


def check_state(version: Version | None, *allowed: VersionState) -> Version:
    """The version, if it may be moved on from where it stands."""
    if version is None:
        raise RefusedError(Refusal.TEMPLATE_VERSION_NOT_FOUND)
    if version.state not in allowed:
        words = " or ".join(state.value for state in allowed)
        raise RefusedError(
            Refusal.TEMPLATE_STATE_CONFLICT, f"The version is {version.state.value}; this needs {words}."
        )
    return version


def _check_header(draft: Draft) -> None:
    header = draft.header
    if header is None:
        return
    if header.type == "text":
        if len(header.content) > LINE_CHARS_MAX:
            raise _invalid(f"A header may have {LINE_CHARS_MAX} characters.", "body.header")
        if len(names_in(header.content)) > 1:
            raise _invalid("A header takes one variable at most.", "body.header")
    elif names_in(header.content):
        raise _invalid("The address of a header's file takes no variables.", "body.header")


def _check_button(button: ButtonDraft, *, field: str) -> None:
    url = button.url or ""
    found = list(PLACEHOLDER.finditer(url))
    if found and (len(found) > 1 or found[0].end() != len(url)):
        raise _invalid("An address takes one variable, and only at its end.", field)


def _invalid(sentence: str, field: str) -> RefusedError:
    return RefusedError(Refusal.TEMPLATE_INVALID, sentence, field=field)
