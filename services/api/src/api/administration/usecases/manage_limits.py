"""Managing plans and packages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from api.accounts.store import tenant_exists
from api.administration.domain import Package, Page, Plan
from api.administration.store import limits
from api.refusals import Refusal, RefusedError
from chassis.database import Database
from contracts.ids import uuid7


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageLimits:
    """What tenants may send counts a few seconds after a change, on every replica."""

    database: Database

    async def create_plan(self, values: Mapping[str, Any]) -> Plan:
        """Raises `RefusedError(ALREADY_EXISTS)` for a name that is taken."""
        async with self.database.transaction() as tx:
            plan = await limits.insert_plan(tx, uuid7(), values)
        if plan is None:
            raise RefusedError(Refusal.ALREADY_EXISTS, "There already is a plan of this name.", field="name")
        return plan

    async def change_plan(self, plan_id: UUID, values: Mapping[str, Any]) -> Plan:
        """The plan as it is now; raises `RefusedError(PLAN_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _plan(await limits.change_plan(tx, plan_id, values))

    async def delete_plan(self, plan_id: UUID) -> None:
        """Raises `RefusedError` for a plan that a tenant has, or that does not exist."""
        async with self.database.transaction() as tx:
            _plan(await limits.find_plan(tx, plan_id))
            if not await limits.delete_unused_plan(tx, plan_id):
                raise RefusedError(Refusal.PLAN_IN_USE)

    async def create_package(self, values: Mapping[str, Any]) -> Package:
        """Raises `RefusedError(TENANT_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            if not await tenant_exists(tx, values["tenant_id"]):
                raise RefusedError(Refusal.TENANT_NOT_FOUND, field="tenantId")
            return await limits.insert_package(tx, uuid7(), values)

    async def delete_package(self, package_id: UUID) -> None:
        """What was sent out of it stays sent; raises `RefusedError(PACKAGE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            if not await limits.delete_package(tx, package_id):
                raise RefusedError(Refusal.PACKAGE_NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Shows plans and packages."""

    database: Database

    async def plans(self, page: Page) -> Sequence[Plan]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await limits.list_plans(tx, page)

    async def plan(self, plan_id: UUID) -> Plan:
        """Raises `RefusedError(PLAN_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return _plan(await limits.find_plan(tx, plan_id))

    async def packages(self, page: Page, *, tenant_id: UUID | None) -> Sequence[Package]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await limits.list_packages(tx, page, tenant_id=tenant_id)

    async def package(self, package_id: UUID) -> Package:
        """Raises `RefusedError(PACKAGE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            package = await limits.find_package(tx, package_id)
        if package is None:
            raise RefusedError(Refusal.PACKAGE_NOT_FOUND)
        return package


def _plan(found: Plan | None) -> Plan:
    if found is None:
        raise RefusedError(Refusal.PLAN_NOT_FOUND)
    return found
