"""Every SQL statement of status-ingest; each function is one."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    FromClause,
    Table,
    Text,
    Uuid,
    any_,
    bindparam,
    case,
    column,
    delete,
    func,
    insert,
    null,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from chassis.outbox import Closing
from contracts.values import MessageRef
from gateways.port import ReceiptStatus
from status_ingest.domain.arrivals import Arrival
from status_ingest.domain.findings import HeardReceipt, MessageKey, RawEvent, ReceiptKey
from status_ingest.tables import correlations, quarantine, raw_events, receipts

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
    given = _unnest("given", id=(Uuid(), list(reasons)), reason=(Text(), list(reasons.values())))
    names = ["id", "received_at", "event", "instance", "sealed", "reason"]
    copied = select(*(raw_events.c[name] for name in names[:-1]), given.c.reason).where(raw_events.c.id == given.c.id)
    await tx.execute(upsert(quarantine).from_select(names, copied).on_conflict_do_nothing())


async def lock_correlations(tx: Transaction, keys: Sequence[MessageKey]) -> dict[MessageKey, MessageRef]:
    """Make sure that a row exists for each key (sorted), lock it, and return the messages that are known."""
    rows = select(*_keys(keys).c)
    locked = upsert(correlations).from_select(["instance", "key_id"], rows)
    locked = locked.on_conflict_do_update(
        index_elements=["instance", "key_id"], set_={"key_id": locked.excluded.key_id}
    )
    return _refs(await tx.execute(locked.returning(correlations)))


async def learn_refs(tx: Transaction, refs: Mapping[MessageKey, MessageRef]) -> dict[MessageKey, MessageRef]:
    """Lock the rows in order and tell them their message; the one they know already stays. Returns what holds."""
    keys = sorted(refs)
    documents = [refs[key].model_dump_json() for key in keys]
    given = _keys(keys, document=(Text(), documents))
    rows = select(given.c.instance, given.c.key_id, given.c.document.cast(JSONB))
    learnt = upsert(correlations).from_select(["instance", "key_id", "ref"], rows)
    learnt = learnt.on_conflict_do_update(
        index_elements=["instance", "key_id"],
        set_={"ref": func.coalesce(correlations.c.ref, learnt.excluded.ref)},
    )
    return _refs(await tx.execute(learnt.returning(correlations)))


async def mark_echoed(tx: Transaction, keys: Sequence[MessageKey]) -> set[MessageKey]:
    """Those of `keys` whose echo was never seen before."""
    given = _keys(keys)
    marked = (
        update(correlations)
        .where(correlations.c.instance == given.c.instance, correlations.c.key_id == given.c.key_id)
        .where(correlations.c.echoed_at.is_(None))
        .values(echoed_at=func.clock_timestamp())
    )
    rows = await tx.execute(marked.returning(correlations.c.instance, correlations.c.key_id))
    return {MessageKey(instance=row.instance, key_id=row.key_id) for row in rows}


async def insert_receipts(
    tx: Transaction, heard: Sequence[HeardReceipt], *, known: Collection[MessageKey]
) -> set[ReceiptKey]:
    """Keep each report once, parked unless its message is known; the ones never kept before."""
    given = _keys(
        [receipt.key.message for receipt in heard],
        status=(Text(), [receipt.key.status.value for receipt in heard]),
        occurred_at=(DateTime(timezone=True), [receipt.occurred_at for receipt in heard]),
        is_known=(Boolean(), [receipt.key.message in known for receipt in heard]),
    )
    recorded_at = case((given.c.is_known, func.clock_timestamp()), else_=null())
    rows = select(given.c.instance, given.c.key_id, given.c.status, given.c.occurred_at, recorded_at)
    kept = upsert(receipts).from_select(["instance", "key_id", "status", "occurred_at", "recorded_at"], rows)
    return {_heard(row).key for row in await tx.execute(kept.on_conflict_do_nothing().returning(receipts))}


async def release_parked(tx: Transaction, keys: Collection[MessageKey]) -> list[HeardReceipt]:
    """Mark the parked reports about `keys` as told and return them, oldest first."""
    given = _keys(sorted(keys))
    released = (
        update(receipts)
        .where(receipts.c.instance == given.c.instance, receipts.c.key_id == given.c.key_id)
        .where(receipts.c.recorded_at.is_(None))
        .values(recorded_at=func.clock_timestamp())
    )
    rows = await tx.execute(released.returning(*receipts.c))
    return sorted((_heard(row) for row in rows), key=lambda receipt: (receipt.occurred_at, receipt.key))


async def count_parked(tx: Transaction) -> int:
    """Reports whose message is not known yet."""
    parked = select(func.count()).select_from(receipts).where(receipts.c.recorded_at.is_(None))
    return int((await tx.execute(parked)).scalar_one())


async def forget_raw_events(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete interpreted events past `age`; how many."""
    return await _forget(tx, raw_events, raw_events.c.interpreted_at < _moment(now) - age, limit)


async def forget_parked(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete reports whose message never became known; how many."""
    is_old = receipts.c.recorded_at.is_(None) & (receipts.c.occurred_at < _moment(now) - age)
    return await _forget(tx, receipts, is_old, limit)


async def forget_unmatched(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete keys that never became a message of ours; how many."""
    is_old = correlations.c.ref.is_(None) & (correlations.c.first_seen_at < _moment(now) - age)
    return await _forget(tx, correlations, is_old, limit)


async def forget_matched(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete keys of messages so old that no report is expected any more; how many."""
    is_old = correlations.c.ref.is_not(None) & (correlations.c.first_seen_at < _moment(now) - age)
    return await _forget(tx, correlations, is_old, limit)


async def forget_recorded(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete reports told long ago; how many."""
    return await _forget(tx, receipts, receipts.c.recorded_at < _moment(now) - age, limit)


async def forget_quarantined(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete what has been in quarantine for `age`; how many."""
    return await _forget(tx, quarantine, quarantine.c.filed_at < _moment(now) - age, limit)


async def _forget(tx: Transaction, table: Table, is_old: ColumnElement[bool], limit: int) -> int:
    """The condition is judged again on the locked row: it may have changed since it was found."""
    primary_key = tuple_(*table.primary_key.columns)
    found = select(*table.primary_key.columns).where(is_old).limit(limit)
    return (await tx.execute(delete(table).where(primary_key.in_(found), is_old))).rowcount


def _moment(now: datetime | None) -> ColumnElement[datetime]:
    return func.coalesce(bindparam("now", now, DateTime(timezone=True)), func.clock_timestamp())


def _keys(keys: Sequence[MessageKey], **more: tuple[Any, Sequence[Any]]) -> FromClause:
    return _unnest(
        "given",
        instance=(Text(), [key.instance for key in keys]),
        key_id=(Text(), [key.key_id for key in keys]),
        **more,
    )


def _unnest(alias: str, **columns: tuple[Any, Sequence[Any]]) -> FromClause:
    """Parallel arrays as rows, in their order."""
    arrays = [bindparam(f"{alias}_{name}", list(values), ARRAY(kind)) for name, (kind, values) in columns.items()]
    named = [column(name, kind) for name, (kind, _) in columns.items()]
    return func.unnest(*arrays).table_valued(*named, name=alias).render_derived()


def _refs(rows: Any) -> dict[MessageKey, MessageRef]:
    return {
        MessageKey(instance=row.instance, key_id=row.key_id): MessageRef.model_validate(row.ref)
        for row in rows
        if row.ref is not None
    }


def _heard(row: Any) -> HeardReceipt:
    message = MessageKey(instance=row.instance, key_id=row.key_id)
    return HeardReceipt(key=ReceiptKey(message=message, status=ReceiptStatus(row.status)), occurred_at=row.occurred_at)
