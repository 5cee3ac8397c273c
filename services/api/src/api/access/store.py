"""Statements on API keys."""

from typing import Any
from uuid import UUID

from sqlalchemy import and_, insert, or_, select

from api.access.domain import Caller, KeyParts
from api.access.tables import API_KEYS
from api.accounts.tables import PROJECTS
from api.numbers.store import number_of
from api.numbers.tables import NUMBERS
from chassis.database import Transaction
from contracts.values import Environment


async def find_caller(tx: Transaction, public_id: str) -> Caller | None:
    """The holder of an unrevoked key with its number, or the platform's default number if the key is not bound."""
    sends_from = or_(
        API_KEYS.c.number_id == NUMBERS.c.id, and_(API_KEYS.c.number_id.is_(None), NUMBERS.c.platform_default)
    )
    query = (
        select(
            *NUMBERS.c,
            API_KEYS.c.id.label("key_id"),
            API_KEYS.c.secret_hash,
            API_KEYS.c.environment,
            API_KEYS.c.number_id.label("bound_number_id"),
            PROJECTS.c.id.label("project_id"),
            PROJECTS.c.tenant_id.label("caller_tenant_id"),
            PROJECTS.c.production_approved,
        )
        .select_from(API_KEYS.join(PROJECTS).outerjoin(NUMBERS, sends_from))
        .where(API_KEYS.c.public_id == public_id, API_KEYS.c.revoked_at.is_(None))
    )
    row = (await tx.execute(query)).mappings().first()
    return _caller(row) if row else None


def _caller(row: Any) -> Caller:
    return Caller(
        key_id=row["key_id"],
        secret_hash=row["secret_hash"],
        environment=Environment(row["environment"]),
        tenant_id=row["caller_tenant_id"],
        project_id=row["project_id"],
        production_approved=row["production_approved"],
        bound=row["bound_number_id"] is not None,
        number=number_of(row) if row["id"] else None,
    )


async def insert_key(
    tx: Transaction, *, key_id: UUID, parts: KeyParts, name: str, project_id: UUID, number_id: UUID | None
) -> None:
    """Store a new key's hash."""
    await tx.execute(
        insert(API_KEYS).values(
            id=key_id,
            public_id=parts.public_id,
            secret_hash=parts.secret_hash,
            name=name,
            project_id=project_id,
            environment=parts.environment.value,
            number_id=number_id,
        )
    )
