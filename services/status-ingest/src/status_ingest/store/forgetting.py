"""Deleting what has served its purpose, a chunk a statement."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, delete, select, tuple_

from chassis.database import Transaction
from status_ingest.store.given import moment
from status_ingest.tables import connections, correlations, lids, quarantine, raw_events, receipts, traffic


async def forget_raw_events(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete interpreted events past `age`; how many."""
    return await _forget(tx, raw_events, raw_events.c.interpreted_at < moment(now) - age, limit)


async def forget_parked(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete reports whose message never became known; how many."""
    is_old = receipts.c.recorded_at.is_(None) & (receipts.c.occurred_at < moment(now) - age)
    return await _forget(tx, receipts, is_old, limit)


async def forget_unmatched(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete keys that never became a message of ours; how many."""
    is_old = correlations.c.ref.is_(None) & (correlations.c.first_seen_at < moment(now) - age)
    return await _forget(tx, correlations, is_old, limit)


async def forget_matched(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete keys of messages so old that no report is expected any more; how many."""
    is_old = correlations.c.ref.is_not(None) & (correlations.c.first_seen_at < moment(now) - age)
    return await _forget(tx, correlations, is_old, limit)


async def forget_recorded(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete reports told long ago; how many."""
    return await _forget(tx, receipts, receipts.c.recorded_at < moment(now) - age, limit)


async def forget_quarantined(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete what has been in quarantine for `age`; how many."""
    return await _forget(tx, quarantine, quarantine.c.filed_at < moment(now) - age, limit)


async def forget_connections(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete numbers whose connection was not spoken of for `age`; how many."""
    return await _forget(tx, connections, connections.c.seen_at < moment(now) - age, limit)


async def forget_traffic(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete numbers that handed nothing over for `age`; how many."""
    return await _forget(tx, traffic, traffic.c.dispatched_at < moment(now) - age, limit)


async def forget_lids(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete people who were not named both ways for `age`; how many."""
    return await _forget(tx, lids, lids.c.seen_at < moment(now) - age, limit)


async def _forget(tx: Transaction, table: Table, is_old: ColumnElement[bool], limit: int) -> int:
    """The condition is judged again on the locked row: it may have changed since it was found."""
    primary_key = tuple_(*table.primary_key.columns)
    found = select(*table.primary_key.columns).where(is_old).limit(limit)
    return (await tx.execute(delete(table).where(primary_key.in_(found), is_old))).rowcount
