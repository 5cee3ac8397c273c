"""Statements on tenants and projects."""

from uuid import UUID

from sqlalchemy import insert, select

from api.accounts.tables import PROJECTS, TENANTS
from chassis.database import Transaction


async def insert_tenant(tx: Transaction, *, tenant_id: UUID, name: str) -> None:
    """A new tenant."""
    await tx.execute(insert(TENANTS).values(id=tenant_id, name=name))


async def tenant_exists(tx: Transaction, tenant_id: UUID) -> bool:
    """Whether there is such a tenant."""
    return (await tx.execute(select(TENANTS.c.id).where(TENANTS.c.id == tenant_id))).first() is not None


async def insert_project(
    tx: Transaction, *, project_id: UUID, tenant_id: UUID, name: str, production_approved: bool
) -> None:
    """A new project of a tenant."""
    await tx.execute(
        insert(PROJECTS).values(id=project_id, tenant_id=tenant_id, name=name, production_approved=production_approved)
    )


async def project_exists(tx: Transaction, project_id: UUID) -> bool:
    """Whether there is such a project."""
    return (await tx.execute(select(PROJECTS.c.id).where(PROJECTS.c.id == project_id))).first() is not None
