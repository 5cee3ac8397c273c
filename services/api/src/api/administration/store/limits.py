"""Statements on plans and packages."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, exists, select, update
from sqlalchemy.dialects.postgresql import insert

from api.accounts.tables import TENANTS
from api.administration.domain import Package, Page, Plan
from api.administration.store.paging import paged
from api.limits.tables import PACKAGES, PLANS
from chassis.database import Transaction


async def insert_plan(tx: Transaction, plan_id: UUID, values: Mapping[str, Any]) -> Plan | None:
    """A new plan; None if there is one of that name."""
    statement = insert(PLANS).values(id=plan_id, **values).on_conflict_do_nothing().returning(PLANS)
    row = (await tx.execute(statement)).first()
    return _plan(row) if row else None


async def change_plan(tx: Transaction, plan_id: UUID, values: Mapping[str, Any]) -> Plan | None:
    """The plan as it is now; None if there is none."""
    row = (await tx.execute(update(PLANS).where(PLANS.c.id == plan_id).values(**values).returning(PLANS))).first()
    return _plan(row) if row else None


async def find_plan(tx: Transaction, plan_id: UUID) -> Plan | None:
    """One plan."""
    row = (await tx.execute(select(PLANS).where(PLANS.c.id == plan_id))).first()
    return _plan(row) if row else None


async def list_plans(tx: Transaction, page: Page) -> Sequence[Plan]:
    """Newest first."""
    return [_plan(row) for row in await tx.execute(paged(select(PLANS), PLANS.c.id, page, wanted={}))]


async def delete_unused_plan(tx: Transaction, plan_id: UUID) -> bool:
    """False if a tenant has it, or there is none."""
    used = exists().where(TENANTS.c.plan_id == plan_id)
    return (await tx.execute(delete(PLANS).where(PLANS.c.id == plan_id, ~used))).rowcount == 1


async def insert_package(tx: Transaction, package_id: UUID, values: Mapping[str, Any]) -> Package:
    """A new package."""
    statement = insert(PACKAGES).values(id=package_id, **values).returning(PACKAGES)
    return _package((await tx.execute(statement)).one())


async def find_package(tx: Transaction, package_id: UUID) -> Package | None:
    """One package."""
    row = (await tx.execute(select(PACKAGES).where(PACKAGES.c.id == package_id))).first()
    return _package(row) if row else None


async def list_packages(tx: Transaction, page: Page, *, tenant_id: UUID | None) -> Sequence[Package]:
    """Newest first."""
    query = paged(select(PACKAGES), PACKAGES.c.id, page, wanted={PACKAGES.c.tenant_id: tenant_id})
    return [_package(row) for row in await tx.execute(query)]


async def delete_package(tx: Transaction, package_id: UUID) -> bool:
    """False if there is none."""
    return (await tx.execute(delete(PACKAGES).where(PACKAGES.c.id == package_id))).rowcount == 1


def _plan(row: Any) -> Plan:
    return Plan(
        plan_id=row.id,
        name=row.name,
        live_monthly=row.live_monthly,
        live_daily=row.live_daily,
        test_daily=row.test_daily,
        test_anyone=row.test_anyone,
        media_allowed=row.media_allowed,
        requests_per_minute=row.requests_per_minute,
        created_at=row.created_at,
    )


def _package(row: Any) -> Package:
    return Package(
        package_id=row.id,
        tenant_id=row.tenant_id,
        messages=row.messages,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        created_at=row.created_at,
    )
