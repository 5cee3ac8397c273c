"""Which deliveries tell of a message, and what their attempts brought back."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select, tuple_, update

from chassis.database import Transaction
from notifier.tables import deliveries, delivery_attempts, endpoints


async def deliveries_of(tx: Transaction, *, number_id: UUID, message_ids: Sequence[UUID]) -> Sequence[UUID]:
    """By the number's endpoints: they lead the index."""
    query = (
        select(deliveries.c.delivery_id)
        .join(endpoints, endpoints.c.endpoint_id == deliveries.c.endpoint_id)
        .where(endpoints.c.number_id == number_id, deliveries.c.message_id.in_(message_ids))
        .order_by(deliveries.c.delivery_id)
    )
    return list((await tx.execute(query)).scalars())


async def existing(tx: Transaction, delivery_ids: Sequence[UUID]) -> list[UUID]:
    """Those that were not deleted."""
    query = select(deliveries.c.delivery_id).where(deliveries.c.delivery_id.in_(delivery_ids))
    return list((await tx.execute(query)).scalars())


async def drop_responses(tx: Transaction, delivery_ids: Sequence[UUID]) -> None:
    """A customer's answer may repeat what it was sent; rows that somebody is writing are left."""
    key = tuple_(delivery_attempts.c.delivery_id, delivery_attempts.c.attempt)
    found = (
        select(delivery_attempts.c.delivery_id, delivery_attempts.c.attempt)
        .where(delivery_attempts.c.delivery_id.in_(delivery_ids), delivery_attempts.c.sealed_response.is_not(None))
        .with_for_update(skip_locked=True)
        .cte("found")
    )
    emptied = update(delivery_attempts).where(key.in_(select(found.c.delivery_id, found.c.attempt)))
    await tx.execute(emptied.values(sealed_response=None))
