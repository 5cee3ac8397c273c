"""What an operator does with tenants and projects."""

from dataclasses import dataclass
from uuid import UUID

from api.accounts import store
from api.accounts.domain import Project, distinct_slug, slug_of
from api.refusals import Refusal, RefusedError
from chassis.database import Database, Transaction
from contracts.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount:
    """Creates projects."""

    database: Database

    async def project(self, *, tenant_id: UUID, name: str, production_approved: bool) -> UUID:
        """The new project's id."""
        async with self.database.transaction() as tx:
            if not await store.tenant_exists(tx, tenant_id):
                raise RefusedError(Refusal.TENANT_NOT_FOUND)
            project = await open_project(
                tx, tenant_id=tenant_id, name=name, description="", production_approved=production_approved
            )
        return project.project_id


async def open_project(
    tx: Transaction, *, tenant_id: UUID, name: str, description: str, production_approved: bool
) -> Project:
    """A new project; its slug is made of its name, and made distinct if the tenant has that slug already."""
    project_id, slug = uuid7(), slug_of(name)
    for wanted in (slug, distinct_slug(slug, project_id)):
        project = await store.insert_project(
            tx,
            project_id=project_id,
            tenant_id=tenant_id,
            name=name,
            slug=wanted,
            description=description,
            production_approved=production_approved,
        )
        if project is not None:
            return project
    raise RefusedError(Refusal.ALREADY_EXISTS, field="name")
