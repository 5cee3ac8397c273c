"""Statements on the numbers of one tenant, and on the keys that stand for them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update

from api.access.domain import KeyScope, prefix_of
from api.access.tables import API_KEYS
from api.accounts.tables import TENANTS
from api.numbers.domain import Number
from api.numbers.store import number_of
from api.numbers.tables import NUMBERS
from api.own_numbers.domain import KeyRef
from chassis.database import Transaction
from contracts.values import ConnectionState


async def lock_tenant(tx: Transaction, tenant_id: UUID) -> None:
    """One creation at a time per tenant, so that a phone number cannot be created twice."""
    await tx.execute(select(TENANTS.c.id).where(TENANTS.c.id == tenant_id).with_for_update())


async def list_numbers(tx: Transaction, tenant_id: UUID, *, only: UUID | None, limit: int) -> Sequence[Number]:
    """A tenant's numbers that are not deleted, or one of them; oldest first."""
    query = select(NUMBERS).where(NUMBERS.c.tenant_id == tenant_id, NUMBERS.c.deleted_at.is_(None))
    if only is not None:
        query = query.where(NUMBERS.c.id == only)
    rows = (await tx.execute(query.order_by(NUMBERS.c.created_at, NUMBERS.c.id).limit(limit))).mappings()
    return [number_of(row) for row in rows]


async def list_key_refs(tx: Transaction, number_ids: Sequence[UUID]) -> Sequence[KeyRef]:
    """The keys in use of these numbers, masked, newest first."""
    query = (
        select(API_KEYS)
        .where(API_KEYS.c.number_id.in_(number_ids), API_KEYS.c.revoked_at.is_(None))
        .order_by(API_KEYS.c.created_at.desc())
    )
    return [
        KeyRef(
            number_id=row.number_id, name=row.name, prefix=prefix_of(row.environment, row.public_id), last4=row.last4
        )
        for row in await tx.execute(query)
    ]


async def find_own(
    tx: Transaction, tenant_id: UUID, number_id: UUID, *, deleted: bool = False, lock: bool = False
) -> Number | None:
    """A tenant's number; a deleted one only if `deleted`, locked against other changes if `lock`."""
    query = select(NUMBERS).where(NUMBERS.c.id == number_id, NUMBERS.c.tenant_id == tenant_id)
    if not deleted:
        query = query.where(NUMBERS.c.deleted_at.is_(None))
    row = (await tx.execute(query.with_for_update() if lock else query)).mappings().first()
    return number_of(row) if row else None


async def find_by_phone(tx: Transaction, tenant_id: UUID, phone: str) -> Number | None:
    """A tenant's number by its digits, deleted or not."""
    query = select(NUMBERS).where(NUMBERS.c.tenant_id == tenant_id, NUMBERS.c.phone == phone)
    row = (await tx.execute(query.limit(1))).mappings().first()
    return number_of(row) if row else None


async def save_change(tx: Transaction, number: Number) -> None:
    """Settings and privacy as decided."""
    await tx.execute(
        update(NUMBERS)
        .where(NUMBERS.c.id == number.number_id)
        .values(
            pii_mode=number.pii_mode.value,
            pii_retention_days=number.pii_retention_days,
            settings=dict(number.settings),
            updated_at=func.now(),
        )
    )


async def save_deletion(tx: Transaction, number_id: UUID, *, deleted_at: datetime | None) -> Number:
    """Delete or restore a number; either way it is disconnected, and its configuration is news."""
    statement = (
        update(NUMBERS)
        .where(NUMBERS.c.id == number_id)
        .values(
            deleted_at=deleted_at,
            state=ConnectionState.CLOSE.value,
            version=NUMBERS.c.version + 1,
            updated_at=func.now(),
        )
        .returning(NUMBERS)
    )
    return number_of((await tx.execute(statement)).mappings().one())


async def delete_number(tx: Transaction, number_id: UUID) -> bool:
    """The row itself; False if somebody else was faster."""
    return (await tx.execute(delete(NUMBERS).where(NUMBERS.c.id == number_id))).rowcount > 0


async def delete_keys(tx: Transaction, number_id: UUID) -> None:
    """Every key of a number."""
    await tx.execute(delete(API_KEYS).where(API_KEYS.c.number_id == number_id))


async def link_key(tx: Transaction, key_id: UUID, number_id: UUID) -> None:
    """From now on the key stands for this number."""
    statement = update(API_KEYS).where(API_KEYS.c.id == key_id)
    await tx.execute(statement.values(number_id=number_id, scope=KeyScope.NUMBER.value))


async def list_expired(tx: Transaction, *, before: datetime, limit: int) -> Sequence[Number]:
    """Numbers deleted so long ago that nobody can restore them."""
    query = select(NUMBERS).where(NUMBERS.c.deleted_at < before).order_by(NUMBERS.c.deleted_at).limit(limit)
    rows = (await tx.execute(query)).mappings()
    return [number_of(row) for row in rows]
