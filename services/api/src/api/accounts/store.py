"""Statements on tenants and projects."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert

from api.accounts.domain import Project
from api.accounts.tables import PROJECTS, TENANTS
from chassis.database import Transaction


async def tenant_exists(tx: Transaction, tenant_id: UUID) -> bool:
    """Whether there is such a tenant."""
    return (await tx.execute(select(TENANTS.c.id).where(TENANTS.c.id == tenant_id))).first() is not None


async def insert_project(
    tx: Transaction,
    *,
    project_id: UUID,
    tenant_id: UUID,
    name: str,
    slug: str,
    production_approved: bool = False,
    description: str = "",
) -> Project | None:
    """A new project of a tenant; None if the tenant has one with this slug."""
    statement = upsert(PROJECTS).values(
        id=project_id,
        tenant_id=tenant_id,
        name=name,
        slug=slug,
        description=description,
        production_approved=production_approved,
    )
    row = (await tx.execute(statement.on_conflict_do_nothing().returning(PROJECTS))).first()
    return project_of(row) if row else None


async def find_project(tx: Transaction, project_id: UUID) -> Project | None:
    """One project."""
    row = (await tx.execute(select(PROJECTS).where(PROJECTS.c.id == project_id))).first()
    return project_of(row) if row else None


async def list_projects(tx: Transaction, tenant_id: UUID, *, limit: int) -> Sequence[Project]:
    """A tenant's projects, oldest first."""
    query = select(PROJECTS).where(PROJECTS.c.tenant_id == tenant_id).order_by(PROJECTS.c.created_at, PROJECTS.c.id)
    return [project_of(row) for row in await tx.execute(query.limit(limit))]


async def project_exists(tx: Transaction, project_id: UUID) -> bool:
    """Whether there is such a project."""
    return (await tx.execute(select(PROJECTS.c.id).where(PROJECTS.c.id == project_id))).first() is not None


def project_of(row: Any) -> Project:
    """A row of the table of projects."""
    return Project(
        project_id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        slug=row.slug,
        description=row.description,
        production_approved=row.production_approved,
        created_at=row.created_at,
    )
