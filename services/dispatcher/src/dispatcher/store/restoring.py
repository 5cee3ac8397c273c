"""A schema that came from a dump: how it is noticed, and its unfinished jobs on their way out of it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.facts import MessageAccepted
from dispatcher.store.sql import ref_of, sql

_NOTICE = sql("""
    UPDATE dispatcher.heartbeat SET restored_at = {now}
     WHERE id = 1 AND written_by IS NOT NULL AND written_by <> CAST(CAST(xmin AS text) AS bigint)
""")

_LATEST = sql("SELECT restored_at FROM dispatcher.heartbeat WHERE id = 1")

_STOP_CALLS = sql("""
    WITH freed AS (UPDATE dispatcher.lanes SET in_flight = 0 WHERE in_flight <> 0)
    UPDATE dispatcher.jobs
       SET state = 'UNCERTAIN', lease_token = NULL, lease_until = NULL, place_given_up = false,
           suspected_since = coalesce(suspected_since, started_at), next_check_at = {now} + interval '1 hour',
           updated_at = {now}
     WHERE state = 'IN_FLIGHT'
""")

_TAKE_OUT = sql("""
    WITH old AS (
        SELECT message_id, round FROM dispatcher.jobs
         WHERE finished_at IS NULL AND created_at < :restored_at
         ORDER BY message_id, round LIMIT :limit FOR UPDATE SKIP LOCKED),
    forgotten AS (
        DELETE FROM dispatcher.attempts AS tried USING old
         WHERE tried.message_id = old.message_id AND tried.round = old.round)
    DELETE FROM dispatcher.jobs AS job USING old WHERE job.message_id = old.message_id AND job.round = old.round
    RETURNING {job_ref}, job.tenant_weight, job.urgent, job.due_at, job.deliver_until, job.sealed, job.recipient_hash,
              job.text_hash, job.created_at, job.duplicate_possible,
              job.due_at <= :restored_at OR job.suspected_since IS NOT NULL AS may_have_left
""")

_ANY_LEFT = sql("""
    SELECT EXISTS (SELECT FROM dispatcher.jobs WHERE finished_at IS NULL AND created_at < :restored_at)
""")


async def notice_restore(tx: Transaction, *, now: datetime | None) -> bool:
    """Whether the heartbeat was written by another transaction than it says: it came from a dump. Noticed once."""
    return (await tx.execute(_NOTICE, {"now": now})).rowcount > 0


async def last_restore(tx: Transaction) -> datetime | None:
    """When a restore was last noticed."""
    value: datetime | None = (await tx.execute(_LATEST)).scalar_one_or_none()
    return value


async def stop_calls(tx: Transaction, *, now: datetime | None) -> None:
    """No call of the time of the dump is under way any more."""
    await tx.execute(_STOP_CALLS, {"now": now})


async def take_out(tx: Transaction, restored_at: datetime, *, limit: int) -> Sequence[tuple[MessageAccepted, bool]]:
    """Delete unfinished jobs from before; what was accepted, and whether it may have been sent since the dump."""
    parameters = {"restored_at": restored_at, "limit": limit}
    rows = (await tx.execute(_TAKE_OUT, parameters)).mappings()
    return [(_accepted(row), bool(row["may_have_left"])) for row in rows]


async def is_any_left(tx: Transaction, restored_at: datetime) -> bool:
    """Whether such a job is left, be it locked by somebody who is about to take it out."""
    return bool((await tx.execute(_ANY_LEFT, {"restored_at": restored_at})).scalar_one())


def _accepted(row: RowMapping) -> MessageAccepted:
    return MessageAccepted(
        ref=ref_of(row),
        deliver_by=row["due_at"],
        deliver_until=row["deliver_until"],
        urgent=row["urgent"],
        tenant_weight=row["tenant_weight"],
        sealed=row["sealed"],
        recipient_hash=row["recipient_hash"],
        text_hash=row["text_hash"],
        accepted_at=row["created_at"],
        duplicate_possible=row["duplicate_possible"],
    )
