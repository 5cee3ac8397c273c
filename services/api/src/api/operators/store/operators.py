"""Statements on operators."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, update

from api.operators.domain import KnownOperator, ListedOperator, Operator, OperatorKeyParts, Role
from api.operators.tables import OPERATORS
from chassis.database import Transaction


async def find_operator(tx: Transaction, public_id: str) -> KnownOperator | None:
    """The holder of an unrevoked key."""
    query = select(OPERATORS).where(OPERATORS.c.public_id == public_id, OPERATORS.c.revoked_at.is_(None))
    row = (await tx.execute(query)).first()
    if row is None:
        return None
    return KnownOperator(
        operator=Operator(operator_id=row.id, name=row.name, role=Role(row.role)), secret_hash=row.secret_hash
    )


async def insert_operator(
    tx: Transaction, *, operator_id: UUID, parts: OperatorKeyParts, name: str, role: Role
) -> None:
    """Store a new operator and the hash of its key."""
    await tx.execute(
        insert(OPERATORS).values(
            id=operator_id, public_id=parts.public_id, secret_hash=parts.secret_hash, name=name, role=role.value
        )
    )


async def list_operators(tx: Transaction, *, after: UUID | None, limit: int) -> Sequence[ListedOperator]:
    """Newest first, revoked ones included."""
    query = select(OPERATORS).order_by(OPERATORS.c.id.desc()).limit(limit)
    if after is not None:
        query = query.where(OPERATORS.c.id < after)
    return [_listed(row) for row in await tx.execute(query)]


async def read_operator(tx: Transaction, operator_id: UUID) -> ListedOperator | None:
    """One operator, even if revoked."""
    row = (await tx.execute(select(OPERATORS).where(OPERATORS.c.id == operator_id))).first()
    return _listed(row) if row else None


async def change_operator(
    tx: Transaction, operator_id: UUID, *, name: str | None, role: Role | None
) -> ListedOperator | None:
    """Change what is given; None if there is no such operator or it is revoked."""
    statement = (
        update(OPERATORS)
        .where(OPERATORS.c.id == operator_id, OPERATORS.c.revoked_at.is_(None))
        .values(
            name=func.coalesce(name, OPERATORS.c.name),
            role=func.coalesce(role.value if role else None, OPERATORS.c.role),
        )
        .returning(OPERATORS)
    )
    row = (await tx.execute(statement)).first()
    return _listed(row) if row else None


async def revoke_operator(tx: Transaction, operator_id: UUID) -> bool:
    """End an operator's key; False if there is no such operator. Once revoked it stays so since then."""
    statement = (
        update(OPERATORS)
        .where(OPERATORS.c.id == operator_id)
        .values(revoked_at=func.coalesce(OPERATORS.c.revoked_at, func.clock_timestamp()))
        .returning(OPERATORS.c.id)
    )
    return (await tx.execute(statement)).first() is not None


def _listed(row: Any) -> ListedOperator:
    return ListedOperator(
        operator_id=row.id,
        name=row.name,
        role=Role(row.role),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )
