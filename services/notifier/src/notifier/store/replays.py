"""Statements that list an endpoint's deliveries, and that owe some of them once more."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, DateTime, bindparam, select, text, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from chassis.database import Transaction
from contracts.delivery_questions import DeliveryState, ListDeliveries, ListedDelivery, ReplayDeliveries
from notifier.domain.problems import hint_of
from notifier.domain.replay import ERASED, Stored
from notifier.domain.settlement import UNIX_MS_BITS, oldest_id
from notifier.tables import deliveries

_STORED = (deliveries.c.delivery_id, deliveries.c.state, deliveries.c.attempts, deliveries.c.sealed_body)

# Each goes out behind the one before it, and news that waited behind one of them comes forward with it.
_OWE_AGAIN = text("""
WITH wanted AS (
    SELECT delivery_id, coalesce(:now, clock_timestamp()) + place * interval '1 microsecond' AS due_at
      FROM unnest(:ids) WITH ORDINALITY AS w (delivery_id, place)
), again AS (
    UPDATE notifier.deliveries AS d
       SET state = 'PENDING', due_at = wanted.due_at, attempts_before = d.attempts, finished_at = NULL
      FROM wanted WHERE d.delivery_id = wanted.delivery_id AND d.state <> 'SENDING'
    RETURNING d.delivery_id, d.endpoint_id, d.message_id, d.version, d.due_at
), forward AS (
    UPDATE notifier.deliveries AS d SET due_at = again.due_at
      FROM again
     WHERE d.endpoint_id = again.endpoint_id AND d.message_id = again.message_id AND d.version > again.version
       AND d.state = 'PENDING' AND d.attempts = 0 AND d.due_at > again.due_at
       AND NOT EXISTS (SELECT FROM wanted WHERE wanted.delivery_id = d.delivery_id)
)
SELECT delivery_id FROM again ORDER BY due_at
""").bindparams(bindparam("now", type_=DateTime(timezone=True)), bindparam("ids", type_=ARRAY(Uuid)))


async def list_deliveries(tx: Transaction, asked: ListDeliveries) -> Sequence[ListedDelivery]:
    """Newest first."""
    column = deliveries.c
    query = select(deliveries).where(column.endpoint_id == asked.endpoint_id).order_by(column.delivery_id.desc())
    for condition in _conditions(events=(asked.event,) if asked.event else (), states=asked.states):
        query = query.where(condition)
    if asked.message_id is not None:
        query = query.where(column.message_id == asked.message_id)
    if asked.before is not None:
        query = query.where(column.delivery_id < asked.before)
    return [_listed(row) for row in await tx.execute(query.limit(asked.limit))]


async def find_delivery(tx: Transaction, endpoint_id: UUID, delivery_id: UUID) -> Stored | None:
    """One delivery of an endpoint; nobody else changes it meanwhile."""
    query = select(*_STORED).where(deliveries.c.delivery_id == delivery_id, deliveries.c.endpoint_id == endpoint_id)
    row = (await tx.execute(query.with_for_update(key_share=True))).first()
    return _stored(row) if row else None


async def take_range(tx: Transaction, asked: ReplayDeliveries, *, limit: int) -> Sequence[Stored]:
    """The next deliveries of a range, oldest first, locked; without those that are under way."""
    column = deliveries.c
    first = oldest_id(asked.since)
    query = select(*_STORED).where(
        column.endpoint_id == asked.endpoint_id,
        column.delivery_id >= first if asked.after is None else column.delivery_id > max(asked.after, first),
        column.delivery_id < oldest_id(asked.until),
        column.state != DeliveryState.SENDING.value,
    )
    for condition in _conditions(events=asked.events, states=asked.states):
        query = query.where(condition)
    rows = await tx.execute(query.order_by(column.delivery_id).limit(limit).with_for_update(key_share=True))
    return [_stored(row) for row in rows]


async def owe_again(tx: Transaction, delivery_ids: Sequence[UUID], *, now: datetime | None = None) -> Sequence[UUID]:
    """Due now, in this order, with the whole schedule before them; those that are owed again."""
    return list((await tx.execute(_OWE_AGAIN, {"ids": list(delivery_ids), "now": now})).scalars())


def _conditions(*, events: Sequence[str], states: Sequence[DeliveryState]) -> Sequence[ColumnElement[bool]]:
    by_event = deliveries.c.event.in_(events) if events else true()
    by_state = deliveries.c.state.in_([state.value for state in states]) if states else true()
    return by_event, by_state


def _stored(row: Any) -> Stored:
    return Stored(
        delivery_id=row.delivery_id,
        state=DeliveryState(row.state),
        attempts=row.attempts,
        sealed_body=row.sealed_body,
    )


def _listed(row: Any) -> ListedDelivery:
    return ListedDelivery(
        delivery_id=row.delivery_id,
        event=row.event,
        message_id=row.message_id if "message_id" in row.ref else None,
        state=DeliveryState(row.state),
        attempts=row.attempts,
        owed_at=datetime.fromtimestamp((row.delivery_id.int >> UNIX_MS_BITS) / 1_000, UTC),
        due_at=row.due_at,
        finished_at=row.finished_at,
        last_status=row.last_status,
        last_problem=row.last_problem,
        hint=hint_of(row.last_problem),
        replayable=row.sealed_body != ERASED,
    )
