"""Managing tenants and projects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from api.accounts.domain import Project
from api.accounts.store import find_project
from api.administration.domain import Page, Tenant
from api.administration.store import accounts, limits
from api.refusals import Refusal, RefusedError
from chassis.database import Database, Transaction
from contracts.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageAccounts:
    """Changes to tenants and projects; projects are opened by `accounts.usecases.OpenAccount`."""

    database: Database

    async def create_tenant(self, values: Mapping[str, Any]) -> Tenant:
        """Raises `RefusedError(PLAN_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            await _check_plan(tx, values)
            return await accounts.insert_tenant(tx, uuid7(), values)

    async def change_tenant(self, tenant_id: UUID, values: Mapping[str, Any]) -> Tenant:
        """The tenant as it is now; raises `RefusedError`."""
        async with self.database.transaction() as tx:
            await _check_plan(tx, values)
            return _tenant(await accounts.change_tenant(tx, tenant_id, values))

    async def change_project(self, project_id: UUID, values: Mapping[str, Any]) -> Project:
        """The project as it is now; raises `RefusedError(PROJECT_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _project(await accounts.change_project(tx, project_id, values))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAccounts:
    """Shows tenants and projects."""

    database: Database

    async def tenants(self, page: Page, *, plan_id: UUID | None) -> Sequence[Tenant]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await accounts.list_tenants(tx, page, plan_id=plan_id)

    async def tenant(self, tenant_id: UUID) -> Tenant:
        """Raises `RefusedError(TENANT_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _tenant(await accounts.find_tenant(tx, tenant_id))

    async def projects(self, page: Page, *, tenant_id: UUID | None) -> Sequence[Project]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await accounts.list_projects(tx, page, tenant_id=tenant_id)

    async def project(self, project_id: UUID) -> Project:
        """Raises `RefusedError(PROJECT_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _project(await find_project(tx, project_id))


async def _check_plan(tx: Transaction, values: Mapping[str, Any]) -> None:
    plan_id = values.get("plan_id")
    if plan_id is not None and await limits.find_plan(tx, plan_id) is None:
        raise RefusedError(Refusal.PLAN_NOT_FOUND, field="planId")


def _tenant(found: Tenant | None) -> Tenant:
    if found is None:
        raise RefusedError(Refusal.TENANT_NOT_FOUND)
    return found


def _project(found: Project | None) -> Project:
    if found is None:
        raise RefusedError(Refusal.PROJECT_NOT_FOUND)
    return found
