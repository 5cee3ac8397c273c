"""What an operator does with tenants and projects."""

from dataclasses import dataclass
from uuid import UUID

from api.accounts import store
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from contracts.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount:
    """Creates tenants and projects."""

    database: Database

    async def tenant(self, name: str) -> UUID:
        """The new tenant's id."""
        tenant_id = uuid7()
        async with self.database.transaction() as tx:
            await store.insert_tenant(tx, tenant_id=tenant_id, name=name)
        return tenant_id

    async def project(self, *, tenant_id: UUID, name: str, production_approved: bool) -> UUID:
        """The new project's id."""
        project_id = uuid7()
        async with self.database.transaction() as tx:
            if not await store.tenant_exists(tx, tenant_id):
                raise RefusedError(Refusal.TENANT_NOT_FOUND)
            await store.insert_project(
                tx, project_id=project_id, tenant_id=tenant_id, name=name, production_approved=production_approved
            )
        return project_id
