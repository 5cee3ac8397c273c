"""An operator's template, approved as it is written."""

from dataclasses import dataclass
from uuid import UUID

from api.accounts.store import project_exists
from api.content.domain.blueprint import checked_blueprint
from api.refusals import Refusal, RefusedError
from api.templates import store
from chassis.database import Database
from contracts.ids import uuid7
from contracts.values import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTemplate:
    """An operator's template: its first version is approved as said."""

    database: Database

    async def create(
        self, *, project_id: UUID, name: str, category: Category, body: str, production_approved: bool
    ) -> UUID:
        """The new template's id."""
        template_id = uuid7()
        _, stored = checked_blueprint(body)
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
                body=stored,
                approved=True,
                production_approved=production_approved,
            )
        return template_id
