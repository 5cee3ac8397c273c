"""Bodies of the template routes, as the published contract has them."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import Field, JsonValue, StrictBool, StrictInt, StrictStr

from api.content.domain.blueprint import blueprint_of
from api.schemas import Body, PlainLine, PlainLines, instant
from api.templates.domain import StoredTemplate, Version
from api.templates.usecases.write_templates import Draft
from contracts.values import Category, Environment

Structure = dict[str, JsonValue]


class TemplateBody(Body):
    """A template and the text of its first version, which is approved at once."""

    project_id: UUID
    name: str = Field(pattern=r"^[A-Za-z0-9_]{1,100}$")
    category: Category
    body: str = Field(min_length=1, max_length=4_096)
    production_approved: bool = False


class VersionBody(Body):
    """What a version says: plain text, or `{header?, body, footer?, buttons?, defaults?}` as an object or JSON text.

    `examples` has a value for every variable.
    """

    body: StrictStr | Structure
    examples: dict[str, PlainLines] | None = Field(default=None, max_length=100)
    category: Category | None = None

    def draft(self) -> Draft:
        """The same as a value, header and buttons in the words that are stored."""
        return Draft(body=_in_our_words(self.body), examples=self.examples or {})


class NewTemplateBody(VersionBody):
    """A template; without an environment it is for TEST and LIVE keys alike."""

    name: PlainLine = Field(min_length=1, max_length=200)
    category: Category
    language: StrictStr = Field(default="pt_BR", pattern=r"^[a-z]{2,3}(_[A-Z]{2})?$")
    environment: Environment | None = None


class DecisionBody(Body):
    """Which version an operator has read; the newest if that is not said."""

    version: StrictInt | None = Field(default=None, ge=1, le=1_000_000)


class RejectionBody(DecisionBody):
    """Why a version is not approved."""

    reason: PlainLines = Field(min_length=1, max_length=500)


class ProductionBody(Body):
    """Whether LIVE keys may send the newest approved version."""

    approved: StrictBool = True


def template_body(template: StoredTemplate, environment: Environment | None = None) -> dict[str, Any]:
    """A template: the union of what the SDK and the documentation show. `sendable` is for keys of `environment`."""
    shown = template.approved or template.latest
    body = {
        "id": str(template.template_id),
        "name": template.name,
        "category": template.category.value,
        "language": template.language,
        "environment": template.environment.value if template.environment else None,
        "body": blueprint_of(shown.body).draft.text if shown else "",
        "variables": list(blueprint_of(shown.body).variables()) if shown else [],
        "source": "PILOT_STATUS",
        "metaStatus": None,
        "metaLanguage": None,
        "latestVersion": _version(template.latest),
        "approvedVersion": template.approved.version if template.approved else None,
        "createdAt": instant(template.created_at),
    }
    if environment is not None:
        body["sendable"] = template.sendable(environment)
    return body


def waiting_body(template: StoredTemplate) -> dict[str, Any]:
    """A template as an operator sees it."""
    return {**template_body(template), "projectId": str(template.project_id)}


def _version(version: Version | None) -> dict[str, Any] | None:
    if version is None:
        return None
    blueprint = blueprint_of(version.body)
    draft = blueprint.draft
    return {
        "version": version.version,
        "status": version.state.value,
        "body": draft.text,
        "header": {"type": draft.header.type, "content": draft.header.content} if draft.header else None,
        "footer": draft.footer,
        "buttons": [
            {
                "type": button.type,
                "label": button.label,
                "url": button.url,
                "phoneNumber": button.phone_number,
                "copyCode": button.copy_code,
            }
            for button in draft.buttons
        ],
        "variables": list(blueprint.variables()),
        "defaults": dict(blueprint.defaults),
        "examples": dict(version.examples),
        "approvedAt": instant(version.approved_at),
        "productionApproved": version.production_approved,
        "rejectionReason": version.rejection_reason,
        "createdAt": instant(version.created_at),
    }


def _in_our_words(body: str | Structure) -> str | Structure:
    """The documentation's names for headers and buttons, also inside JSON text, become those of a message."""
    structure = body if isinstance(body, dict) else _structure_in(body)
    if structure is None:
        return body
    known: Structure = {name: value for name, value in structure.items() if value is not None}
    header, buttons = known.pop("header", None), known.pop("buttons", None)
    if header is not None:
        header = _header(header) if isinstance(header, dict) else header
    if isinstance(buttons, list):
        buttons = [_button(button) if isinstance(button, dict) else button for button in buttons]
    parts: Structure = {"header": header, "buttons": buttons}
    return known | {name: value for name, value in parts.items() if value is not None}


def _structure_in(text: str) -> Structure | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) and "body" in loaded else None


def _header(header: Structure) -> Structure | None:
    kind = header.get("type") or header.get("format")
    if isinstance(kind, str) and kind.upper() == "NONE":
        return None
    content = _first(header, "content", "text", "url", "base64")
    return {"type": kind.lower() if isinstance(kind, str) else kind, "content": content}


def _button(button: Structure) -> Structure:
    example = button.get("example")
    code = example[0] if isinstance(example, list) and example else None
    named: Structure = {
        "type": button.get("type"),
        "label": _first(button, "label", "text"),
        "url": button.get("url"),
        "phoneNumber": _first(button, "phoneNumber", "phone_number"),
        "copyCode": _first(button, "copyCode", "copy_code") or (code if button.get("type") == "COPY_CODE" else None),
        "id": button.get("id"),
    }
    return {name: value for name, value in named.items() if value is not None}


def _first(given: Mapping[str, JsonValue], *names: str) -> JsonValue:
    return next((given[name] for name in names if given.get(name) is not None), None)
