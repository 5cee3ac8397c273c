"""Statements about the numbers customers are told of."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from chassis.database import Transaction
from notifier.domain.numbers import Number
from notifier.tables import numbers


async def add(tx: Transaction, number: Number) -> None:
    """A number nobody knew; one that is known stays as it is."""
    await tx.execute(insert(numbers).values(**asdict(number)).on_conflict_do_nothing())


async def lock(tx: Transaction, number_id: UUID) -> Number:
    """A known number, which nobody else changes meanwhile."""
    query = select(numbers).where(numbers.c.number_id == number_id).with_for_update()
    return _number((await tx.execute(query)).one())


async def lock_by_instance(tx: Transaction, instance: str) -> Number | None:
    """The number at a gateway's instance, locked; the youngest, if several had that name. None if nobody knows it."""
    query = select(numbers).where(numbers.c.instance == instance).order_by(numbers.c.number_id.desc()).limit(1)
    row = (await tx.execute(query.with_for_update())).first()
    return _number(row) if row else None


async def take_closed(tx: Transaction, *, before: datetime, limit: int) -> Sequence[Number]:
    """Numbers whose connection was lost before a moment, locked; untold yet."""
    query = select(numbers).where(numbers.c.closed_at <= before).order_by(numbers.c.closed_at).limit(limit)
    return [_number(row) for row in await tx.execute(query.with_for_update(skip_locked=True))]


async def save(tx: Transaction, number: Number) -> None:
    """What was decided about a locked number."""
    await tx.execute(update(numbers).where(numbers.c.number_id == number.number_id).values(**asdict(number)))


async def forget_purged(tx: Transaction, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` numbers that were purged before a moment."""
    old = select(numbers.c.number_id).where(numbers.c.purged_at < before).limit(limit)
    return (await tx.execute(delete(numbers).where(numbers.c.number_id.in_(old)))).rowcount


def _number(row: Row[Any]) -> Number:
    return Number(**row._mapping)
