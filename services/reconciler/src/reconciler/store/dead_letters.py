"""The file of dead letters."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from reconciler.domain.dead_letters import DeadLetter
from reconciler.store import moment
from reconciler.tables import dead_letters


async def file_dead_letters(tx: Transaction, letters: Sequence[tuple[DeadLetter, str]]) -> set[UUID]:
    """File letters with their sealed bodies; the ids of those not filed before."""
    rows = [
        {
            "id": letter.id,
            "statement_id": letter.statement_id,
            "origin_queue": letter.origin_queue,
            "reason": letter.reason,
            "count": letter.count,
            "type": letter.type,
            "routing_key": letter.routing_key,
            "headers": dict(letter.headers),
            "size_bytes": letter.size_bytes,
            "sealed": sealed,
            "first_died_at": letter.first_died_at,
        }
        for letter, sealed in letters
    ]
    filed = upsert(dead_letters).values(rows).on_conflict_do_nothing().returning(dead_letters.c.id)
    return set((await tx.execute(filed)).scalars())


async def forget_dead_letters(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete letters filed `age` ago; how many."""
    old = select(dead_letters.c.id).where(dead_letters.c.filed_at < moment(now) - age).limit(limit)
    return (await tx.execute(delete(dead_letters).where(dead_letters.c.id.in_(old)))).rowcount
