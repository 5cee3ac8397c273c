"""Creating templates, and finding the one a send names."""

from dataclasses import dataclass
from uuid import UUID

from api.accounts.store import project_exists
from api.refusals import Refusal, RefusedError
from api.templates import store
from api.templates.domain import Template
from chassis.database import Database
from chassis.ttl_cache import TtlCache
from contracts.ids import uuid7
from contracts.values import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class FindTemplate:
    """A project's template by id or friendly name; remembered for a few seconds."""

    database: Database
    templates: TtlCache[tuple[UUID, str], Template]

    async def find(self, project_id: UUID, id_or_name: str) -> Template | None:
        """None if the project has no such template."""
        known = self.templates.get((project_id, id_or_name))
        if known is not None:
            return known
        async with self.database.transaction() as tx:
            found = await store.find_template(
                tx, project_id=project_id, name=id_or_name, template_id=_as_uuid(id_or_name)
            )
        if found is not None:
            self.templates.put((project_id, id_or_name), found)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTemplate:
    """An operator's template: its first version is approved as said."""

    database: Database

    async def create(
        self, *, project_id: UUID, name: str, category: Category, body: str, production_approved: bool
    ) -> UUID:
        """The new template's id."""
        template_id = uuid7()
        async with self.database.transaction() as tx:
            if not await project_exists(tx, project_id):
                raise RefusedError(Refusal.PROJECT_NOT_FOUND)
            if not await store.insert_template(
                tx, template_id=template_id, project_id=project_id, name=name, category=category
            ):
                raise RefusedError(Refusal.ALREADY_EXISTS, "The project already has a template of this name.")
            await store.insert_version(
                tx,
                template_id=template_id,
                version=1,
                body=body,
                approved=True,
                production_approved=production_approved,
            )
        return template_id


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
