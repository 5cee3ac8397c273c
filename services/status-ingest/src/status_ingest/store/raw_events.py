"""Posted events on their way: kept, claimed, done with, or in quarantine."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import Text, Uuid, any_, bindparam, func, insert, select, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from chassis.outbox import Closing
from status_ingest.domain.arrivals import Arrival
from status_ingest.domain.findings import RawEvent
from status_ingest.store.given import as_rows
from status_ingest.tables import quarantine, raw_events

KEEP = Closing(
    "INSERT INTO status_ingest.raw_events (id, event, instance, sealed)"
    " SELECT * FROM unnest(:ids, :events, :instances, :seals)",
    {"ids": ARRAY(Uuid), "events": ARRAY(Text), "instances": ARRAY(Text), "seals": ARRAY(Text)},
)


def insert_raw_events(tx: Transaction, arrivals: Sequence[Arrival]) -> None:
    """Keep events for interpretation, at the end of `tx`: where nothing else is to be done, in one round trip."""
    rows = {
        "ids": [arrival.id for arrival in arrivals],
        "events": [arrival.event for arrival in arrivals],
        "instances": [arrival.instance for arrival in arrivals],
        "seals": [arrival.sealed for arrival in arrivals],
    }
    tx.close_with(KEEP, rows)


async def insert_faulty(tx: Transaction, arrivals: Sequence[Arrival]) -> None:
    """Keep what cannot be interpreted at all."""
    rows = [
        {
            "id": arrival.id,
            "event": arrival.event,
            "instance": arrival.instance,
            "reason": arrival.fault,
            "size_bytes": arrival.size_bytes,
            "sealed": arrival.sealed,
        }
        for arrival in arrivals
    ]
    await tx.execute(insert(quarantine).values(received_at=func.clock_timestamp()), rows)


async def claim_raw_events(tx: Transaction, *, limit: int, only: UUID | None = None) -> list[RawEvent]:
    """Lock the oldest waiting events that nobody else is interpreting."""
    waiting = select(raw_events).where(raw_events.c.interpreted_at.is_(None))
    if only is not None:
        waiting = waiting.where(raw_events.c.id == only)
    rows = await tx.execute(waiting.order_by(raw_events.c.id).limit(limit).with_for_update(skip_locked=True))
    return [
        RawEvent(id=row.id, received_at=row.received_at, instance=row.instance, sealed=row.sealed)
        for row in rows.mappings().all()
    ]


async def waiting_event_ids(tx: Transaction, *, limit: int) -> list[UUID]:
    """The oldest waiting events, without locking them."""
    waiting = select(raw_events.c.id).where(raw_events.c.interpreted_at.is_(None))
    return list((await tx.execute(waiting.order_by(raw_events.c.id).limit(limit))).scalars())


async def mark_interpreted(tx: Transaction, ids: Sequence[UUID]) -> None:
    """They are done with."""
    done = update(raw_events).where(raw_events.c.id == any_(bindparam("ids", ids, ARRAY(Uuid))))
    await tx.execute(done.values(interpreted_at=func.clock_timestamp()))


async def quarantine_raw_events(tx: Transaction, reasons: Mapping[UUID, str]) -> None:
    """Copy events into quarantine, each with its reason."""
    given = as_rows("given", id=(Uuid(), list(reasons)), reason=(Text(), list(reasons.values())))
    names = ["id", "received_at", "event", "instance", "sealed", "reason"]
    copied = select(*(raw_events.c[name] for name in names[:-1]), given.c.reason).where(raw_events.c.id == given.c.id)
    await tx.execute(upsert(quarantine).from_select(names, copied).on_conflict_do_nothing())
