"""What a client does with the templates of its project: write versions, submit them, look, delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.access.domain import Caller, KeyScope
from api.content.domain.blueprint import checked_blueprint
from api.refusals import Refusal, RefusedError
from api.templates import store
from api.templates.domain import (
    StoredTemplate,
    VersionState,
    check_blueprint,
    check_category,
    check_state,
    next_version,
    normalise_name,
)
from api.templates.usecases.find_template import as_id
from chassis.database import Database, Transaction
from contracts.ids import uuid7
from contracts.values import Category, Environment

TEMPLATES_MAX = 1_000
"""Of one project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a client wants a version to say."""

    body: str | Mapping[str, object]
    examples: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTemplates:
    """Nothing here approves anything: a draft is submitted, and an operator decides."""

    database: Database

    async def list(self, caller: Caller) -> Sequence[StoredTemplate]:
        """Every template of the key's project, oldest first."""
        _needs_project(caller)
        async with self.database.transaction() as tx:
            return await store.list_templates(tx, caller.project_id, limit=TEMPLATES_MAX)

    async def get(self, caller: Caller, reference: str) -> StoredTemplate:
        """One by id or name; raises `RefusedError(TEMPLATE_NOT_FOUND)`."""
        _needs_project(caller)
        async with self.database.transaction() as tx:
            return await _find(tx, caller, reference)

    async def create(
        self,
        caller: Caller,
        *,
        name: str,
        category: Category,
        language: str,
        environment: Environment | None,
        draft: Draft,
    ) -> StoredTemplate:
        """A new template with a first draft."""
        _needs_project(caller)
        name, body, template_id = normalise_name(name), _checked(draft), uuid7()
        async with self.database.transaction() as tx:
            if await store.count_templates(tx, caller.project_id) >= TEMPLATES_MAX:
                raise RefusedError(Refusal.TEMPLATE_LIMIT_EXCEEDED)
            if not await store.insert_template(
                tx,
                template_id=template_id,
                project_id=caller.project_id,
                name=name,
                category=category,
                environment=environment,
                language=language,
            ):
                raise RefusedError(Refusal.TEMPLATE_ALREADY_EXISTS, field="name")
            await store.save_draft(tx, template_id=template_id, version=1, body=body, examples=draft.examples)
            return await _find(tx, caller, str(template_id))

    async def write(
        self, caller: Caller, reference: str, *, draft: Draft, category: Category | None = None, fresh: bool = False
    ) -> StoredTemplate:
        """Another text, for the draft there is or as a new version; `fresh` asks for a new version in any case."""
        _needs_project(caller)
        body = _checked(draft)
        async with self.database.transaction() as tx:
            template = await _find(tx, caller, reference, lock=True)
            check_category(template, category)
            latest = template.latest.version if template.latest else 0
            version = latest + 1 if fresh else next_version(template)
            await store.save_draft(
                tx, template_id=template.template_id, version=version, body=body, examples=draft.examples
            )
            return await _find(tx, caller, str(template.template_id))

    async def submit(self, caller: Caller, reference: str) -> StoredTemplate:
        """Ask for the newest version to be approved."""
        _needs_project(caller)
        async with self.database.transaction() as tx:
            template = await _find(tx, caller, reference, lock=True)
            version = check_state(template.latest, VersionState.DRAFT, VersionState.REJECTED)
            await store.save_state(
                tx, template_id=template.template_id, version=version.version, state=VersionState.SUBMITTED
            )
            return await _find(tx, caller, str(template.template_id))

    async def delete(self, caller: Caller, reference: str) -> None:
        """What was accepted before is sent as it was rendered then."""
        _needs_project(caller)
        async with self.database.transaction() as tx:
            template = await _find(tx, caller, reference, lock=True)
            await store.delete_template(tx, template.template_id)


def _needs_project(caller: Caller) -> None:
    if caller.scope is KeyScope.TENANT:
        raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)


def _checked(draft: Draft) -> str:
    blueprint, stored = checked_blueprint(draft.body)
    check_blueprint(blueprint, draft.examples)
    return stored


async def _find(tx: Transaction, caller: Caller, reference: str, *, lock: bool = False) -> StoredTemplate:
    template_id = as_id(reference)
    named = None if template_id else reference
    found = await store.find_stored(tx, name=named, template_id=template_id, project_id=caller.project_id)
    if found is not None and lock:
        await store.lock_template(tx, found.template_id)
        found = await store.find_stored(tx, template_id=found.template_id, project_id=caller.project_id)
    if found is None:
        raise RefusedError(Refusal.TEMPLATE_NOT_FOUND)
    return found
