"""Statements on tenants and projects."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update

from api.accounts.domain import Project
from api.accounts.store import project_of
from api.accounts.tables import PROJECTS, TENANTS
from api.administration.domain import Page, Tenant
from api.administration.store.paging import paged
from chassis.database import Transaction


async def insert_tenant(tx: Transaction, tenant_id: UUID, values: Mapping[str, Any]) -> Tenant:
    """A new tenant."""
    return _tenant((await tx.execute(insert(TENANTS).values(id=tenant_id, **values).returning(TENANTS))).one())


async def change_tenant(tx: Transaction, tenant_id: UUID, values: Mapping[str, Any]) -> Tenant | None:
    """The tenant as it is now; None if there is none."""
    statement = update(TENANTS).where(TENANTS.c.id == tenant_id).values(**values).returning(TENANTS)
    row = (await tx.execute(statement)).first()
    return _tenant(row) if row else None


async def find_tenant(tx: Transaction, tenant_id: UUID) -> Tenant | None:
    """One tenant."""
    row = (await tx.execute(select(TENANTS).where(TENANTS.c.id == tenant_id))).first()
    return _tenant(row) if row else None


async def list_tenants(tx: Transaction, page: Page, *, plan_id: UUID | None) -> Sequence[Tenant]:
    """Newest first."""
    query = paged(select(TENANTS), TENANTS.c.id, page, wanted={TENANTS.c.plan_id: plan_id})
    return [_tenant(row) for row in await tx.execute(query)]


async def change_project(tx: Transaction, project_id: UUID, values: Mapping[str, Any]) -> Project | None:
    """The project as it is now; None if there is none."""
    statement = update(PROJECTS).where(PROJECTS.c.id == project_id).values(**values).returning(PROJECTS)
    row = (await tx.execute(statement)).first()
    return project_of(row) if row else None


async def list_projects(tx: Transaction, page: Page, *, tenant_id: UUID | None) -> Sequence[Project]:
    """Newest first."""
    query = paged(select(PROJECTS), PROJECTS.c.id, page, wanted={PROJECTS.c.tenant_id: tenant_id})
    return [project_of(row) for row in await tx.execute(query)]


def _tenant(row: Any) -> Tenant:
    return Tenant(
        tenant_id=row.id,
        name=row.name,
        weight=row.weight,
        plan_id=row.plan_id,
        timezone=row.timezone,
        default_country=row.default_country,
        created_at=row.created_at,
    )
