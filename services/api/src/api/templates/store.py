"""Statements on templates."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, delete, func, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert

from api.accounts.tables import PROJECTS
from api.templates.domain import StoredTemplate, Template, Version, VersionState
from api.templates.tables import TEMPLATE_VERSIONS, TEMPLATES
from chassis.database import Transaction
from contracts.values import Category, Environment

_VERSIONS = TEMPLATE_VERSIONS.c
_OF_TEMPLATE = _VERSIONS.template_id == TEMPLATES.c.id


async def find_template(tx: Transaction, *, project_id: UUID, name: str, template_id: UUID | None) -> Template | None:
    """A template by id or name with its latest approved version: the project's own, or else one of its tenant."""
    latest = (
        select(_VERSIONS.body, _VERSIONS.production_approved)
        .where(_OF_TEMPLATE, _VERSIONS.approved_at.is_not(None))
        .order_by(_VERSIONS.version.desc())
        .limit(1)
        .lateral()
    )
    tenant = select(PROJECTS.c.tenant_id).where(PROJECTS.c.id == project_id).scalar_subquery()
    is_own = TEMPLATES.c.project_id == project_id
    query = (
        select(TEMPLATES, latest.c.body, latest.c.production_approved)
        .join(PROJECTS, PROJECTS.c.id == TEMPLATES.c.project_id)
        .outerjoin(latest, onclause=true())
        .where(PROJECTS.c.tenant_id == tenant, or_(TEMPLATES.c.name == name, TEMPLATES.c.id == template_id))
        .order_by(is_own.desc())
        .limit(1)
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
        environment=Environment(row.environment) if row.environment else None,
        foreign=row.project_id != project_id,
    )


async def list_templates(tx: Transaction, project_id: UUID, *, limit: int) -> Sequence[StoredTemplate]:
    """A project's templates, oldest first."""
    query = _stored().where(TEMPLATES.c.project_id == project_id)
    rows = (await tx.execute(query.order_by(TEMPLATES.c.created_at, TEMPLATES.c.id).limit(limit))).mappings()
    return [_template(row) for row in rows]


async def list_waiting(tx: Transaction, *, limit: int) -> Sequence[StoredTemplate]:
    """Templates of all tenants whose newest version waits for a decision, oldest first."""
    latest_state = (
        select(_VERSIONS.state).where(_OF_TEMPLATE).order_by(_VERSIONS.version.desc()).limit(1).scalar_subquery()
    )
    query = _stored().where(latest_state == VersionState.SUBMITTED.value).order_by(TEMPLATES.c.created_at).limit(limit)
    return [_template(row) for row in (await tx.execute(query)).mappings()]


async def find_stored(
    tx: Transaction, *, name: str | None = None, template_id: UUID | None = None, project_id: UUID | None = None
) -> StoredTemplate | None:
    """One template by id or name, within a project if one is given."""
    query = _stored().where(or_(TEMPLATES.c.id == template_id, TEMPLATES.c.name == name))
    if project_id is not None:
        query = query.where(TEMPLATES.c.project_id == project_id)
    row = (await tx.execute(query.limit(1))).mappings().first()
    return _template(row) if row else None


async def lock_template(tx: Transaction, template_id: UUID) -> None:
    """One change at a time."""
    await tx.execute(select(TEMPLATES.c.id).where(TEMPLATES.c.id == template_id).with_for_update())


async def count_templates(tx: Transaction, project_id: UUID) -> int:
    """How many templates a project has."""
    query = select(func.count()).select_from(TEMPLATES).where(TEMPLATES.c.project_id == project_id)
    return int((await tx.execute(query)).scalar_one())


async def insert_template(
    tx: Transaction,
    *,
    template_id: UUID,
    project_id: UUID,
    name: str,
    category: Category,
    environment: Environment | None = None,
    language: str = "pt_BR",
) -> bool:
    """A new template; False if the project has one of that name."""
    statement = insert(TEMPLATES).values(
        id=template_id,
        project_id=project_id,
        name=name,
        category=category.value,
        environment=environment.value if environment else None,
        language=language,
    )
    return (await tx.execute(statement.on_conflict_do_nothing().returning(TEMPLATES.c.id))).first() is not None


async def insert_version(
    tx: Transaction, *, template_id: UUID, version: int, body: str, approved: bool, production_approved: bool
) -> None:
    """A version of a template as an operator writes it."""
    await tx.execute(
        insert(TEMPLATE_VERSIONS).values(
            template_id=template_id,
            version=version,
            body=body,
            state=(VersionState.APPROVED if approved else VersionState.DRAFT).value,
            approved_at=func.now() if approved else None,
            production_approved=production_approved,
        )
    )


async def save_draft(
    tx: Transaction, *, template_id: UUID, version: int, body: str, examples: Mapping[str, str]
) -> None:
    """A new version, or another text for one that nobody has approved."""
    values = {
        "body": body,
        "examples": dict(examples),
        "state": VersionState.DRAFT.value,
        "rejection_reason": None,
        "created_at": func.now(),
    }
    statement = insert(TEMPLATE_VERSIONS).values(template_id=template_id, version=version, **values)
    await tx.execute(
        statement.on_conflict_do_update(
            index_elements=[_VERSIONS.template_id, _VERSIONS.version],
            set_=values,
            where=_VERSIONS.approved_at.is_(None),
        )
    )


async def save_state(
    tx: Transaction, *, template_id: UUID, version: int, state: VersionState, reason: str | None = None
) -> None:
    """Where a version stands now."""
    statement = update(TEMPLATE_VERSIONS).where(_VERSIONS.template_id == template_id, _VERSIONS.version == version)
    approved = state is VersionState.APPROVED
    await tx.execute(
        statement.values(state=state.value, rejection_reason=reason, approved_at=func.now() if approved else None)
    )


async def save_production_approval(tx: Transaction, *, template_id: UUID, version: int, approved: bool) -> None:
    """Whether LIVE keys may send a version."""
    statement = update(TEMPLATE_VERSIONS).where(_VERSIONS.template_id == template_id, _VERSIONS.version == version)
    await tx.execute(statement.values(production_approved=approved))


async def delete_template(tx: Transaction, template_id: UUID) -> None:
    """A template with all its versions; messages that were made of it keep its name."""
    await tx.execute(delete(TEMPLATE_VERSIONS).where(_VERSIONS.template_id == template_id))
    await tx.execute(delete(TEMPLATES).where(TEMPLATES.c.id == template_id))


def _stored() -> Select[Any]:
    newest = select(TEMPLATE_VERSIONS).where(_OF_TEMPLATE).order_by(_VERSIONS.version.desc()).limit(1)
    latest = newest.lateral("latest")
    approved = newest.where(_VERSIONS.approved_at.is_not(None)).lateral("approved")
    columns = [
        column.label(f"{prefix}_{column.name}")
        for prefix, part in (("latest", latest), ("approved", approved))
        for column in part.c
    ]
    joined = TEMPLATES.outerjoin(latest, onclause=true()).outerjoin(approved, onclause=true())
    return select(TEMPLATES, *columns).select_from(joined)


def _template(row: Any) -> StoredTemplate:
    return StoredTemplate(
        template_id=row["id"],
        project_id=row["project_id"],
        name=row["name"],
        category=Category(row["category"]),
        environment=Environment(row["environment"]) if row["environment"] else None,
        language=row["language"],
        created_at=row["created_at"],
        latest=_version(row, "latest"),
        approved=_version(row, "approved"),
    )


def _version(row: Any, prefix: str) -> Version | None:
    if row[f"{prefix}_version"] is None:
        return None
    return Version(
        version=row[f"{prefix}_version"],
        state=VersionState(row[f"{prefix}_state"]),
        body=row[f"{prefix}_body"],
        examples=row[f"{prefix}_examples"],
        approved_at=row[f"{prefix}_approved_at"],
        production_approved=row[f"{prefix}_production_approved"],
        rejection_reason=row[f"{prefix}_rejection_reason"],
        created_at=row[f"{prefix}_created_at"],
    )
