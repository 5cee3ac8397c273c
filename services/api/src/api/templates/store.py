"""Statements on templates."""

from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert

from api.templates.domain import Template
from api.templates.tables import TEMPLATE_VERSIONS, TEMPLATES
from chassis.database import Transaction
from contracts.values import Category


async def find_template(tx: Transaction, *, project_id: UUID, name: str, template_id: UUID | None) -> Template | None:
    """A project's template by id or name, with its latest approved version."""
    latest = (
        select(TEMPLATE_VERSIONS.c.body, TEMPLATE_VERSIONS.c.production_approved)
        .where(TEMPLATE_VERSIONS.c.template_id == TEMPLATES.c.id, TEMPLATE_VERSIONS.c.approved_at.is_not(None))
        .order_by(TEMPLATE_VERSIONS.c.version.desc())
        .limit(1)
        .lateral()
    )
    query = (
        select(TEMPLATES, latest.c.body, latest.c.production_approved)
        .outerjoin(latest, onclause=func.coalesce(True))
        .where(TEMPLATES.c.project_id == project_id, or_(TEMPLATES.c.name == name, TEMPLATES.c.id == template_id))
    )
    row = (await tx.execute(query)).first()
    if row is None:
        return None
    return Template(
        template_id=row.id,
        name=row.name,
        category=Category(row.category),
        body=row.body,
        production_approved=bool(row.production_approved),
    )


async def insert_template(
    tx: Transaction, *, template_id: UUID, project_id: UUID, name: str, category: Category
) -> bool:
    """A new template; False if the project has one of that name."""
    statement = insert(TEMPLATES).values(id=template_id, project_id=project_id, name=name, category=category.value)
    return (await tx.execute(statement.on_conflict_do_nothing().returning(TEMPLATES.c.id))).first() is not None


async def insert_version(
    tx: Transaction, *, template_id: UUID, version: int, body: str, approved: bool, production_approved: bool
) -> None:
    """A version of a template."""
    await tx.execute(
        insert(TEMPLATE_VERSIONS).values(
            template_id=template_id,
            version=version,
            body=body,
            approved_at=func.now() if approved else None,
            production_approved=production_approved,
        )
    )
