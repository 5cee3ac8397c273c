"""The fleet's heartbeat, the outages it tells of, and what fell due in them too long ago to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.facts import MessageAccepted
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobKey
from dispatcher.domain.recovery import Outage
from dispatcher.store.intake import row_of
from dispatcher.store.sql import ref_of, rows_json, sql

OUTAGES_MAX = 100

THIS_TRANSACTION = "CAST(CAST(pg_current_xact_id() AS text) AS numeric) % 4294967296"
"""As a row's `xmin` shows it."""

_BEAT = sql(
    """
    INSERT INTO dispatcher.heartbeat AS known (id, beat_at, written_by) VALUES (1, {now}, {this_transaction})
        ON CONFLICT (id) DO UPDATE SET beat_at = greatest(known.beat_at, excluded.beat_at),
                                       written_by = excluded.written_by
    """,
    this_transaction=THIS_TRANSACTION,
)

_LAST = sql("""
    SELECT {now} AS instant, (SELECT beat_at FROM dispatcher.heartbeat WHERE id = 1 FOR UPDATE) AS beat_at
""")

_RECORD = sql("""
    INSERT INTO dispatcher.outages (began_at, ended_at)
    SELECT began_at, ended_at FROM jsonb_to_record(CAST(:rows AS jsonb)) AS ended(
           began_at timestamptz, ended_at timestamptz)
        ON CONFLICT (began_at) DO NOTHING
""")

_OUTAGES = sql("""
    SELECT began_at, ended_at FROM dispatcher.outages
     WHERE ended_at > {now} - make_interval(secs => :age_seconds)
     ORDER BY ended_at DESC LIMIT :limit
""")

_STALE = """
    SELECT job.message_id, job.round
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS outage(began_at timestamptz, stale_before timestamptz)
     CROSS JOIN LATERAL (
           SELECT message_id, round FROM dispatcher.jobs AS job
            WHERE job.state = 'SCHEDULED' AND NOT job.parked AND job.due_at >= outage.began_at
              AND job.due_at < outage.stale_before AND job.deliver_until > {now}
            ORDER BY job.due_at LIMIT :limit {lock}) AS job
"""

_FAILED = """
       SET state = 'FAILED', sealed = NULL, finished_at = {now}, updated_at = {now},
           error_code = CASE WHEN job.duplicate_possible THEN 'UNCONFIRMED' ELSE 'DELIVERY_TIMEOUT' END
"""

_FAIL_STALE = sql(
    """
    WITH stale AS ({stale})
    UPDATE dispatcher.jobs AS job {failed}
      FROM stale WHERE job.message_id = stale.message_id AND job.round = stale.round
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at
    """,
    stale=_STALE.replace("{lock}", "FOR UPDATE SKIP LOCKED"),
    failed=_FAILED,
)

_ANY_STALE = sql("SELECT EXISTS ({stale})", stale=_STALE.replace("{lock}", ""))

_INSERT_FAILED = sql("""
    INSERT INTO dispatcher.jobs AS job ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until,
                                        recipient_hash, text_hash, duplicate_possible, error_code, created_at,
                                        updated_at, finished_at)
    SELECT {ref}, tenant_weight, priority, urgent, 'FAILED', deliver_by, deliver_until, recipient_hash, text_hash,
           duplicate_possible, CASE WHEN duplicate_possible THEN 'UNCONFIRMED'
                                    WHEN deliver_until <= {now} THEN 'MESSAGE_EXPIRED'
                                    ELSE 'DELIVERY_TIMEOUT' END, {now}, {now}, {now}
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS late({accepted})
     ORDER BY message_id, round
        ON CONFLICT (message_id, round) DO NOTHING
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at
""")

_CLOSE_EARLIER = sql("""
    WITH earlier AS (
        SELECT job.message_id, job.round, given.round AS next_round
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(message_id uuid, round integer)
          JOIN dispatcher.jobs AS job ON job.message_id = given.message_id AND job.round < given.round
         WHERE job.state IN ('SCHEDULED', 'READY', 'IN_FLIGHT', 'UNCERTAIN')
         ORDER BY job.message_id, job.round FOR UPDATE OF job)
    UPDATE dispatcher.jobs AS job
       SET deliver_until = least(job.deliver_until, {now}), resolve_by = least(job.resolve_by, {now}),
           updated_at = {now}
      FROM earlier WHERE job.message_id = earlier.message_id AND job.round = earlier.round
    RETURNING job.message_id, earlier.next_round,
              job.state IN ('IN_FLIGHT', 'UNCERTAIN') OR job.suspected_since IS NOT NULL AS may_have_left
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """A job that fell due while nobody worked, and is not sent late."""

    ref: MessageRef
    attempt: int
    code: ErrorCode
    failed_at: datetime


async def beat(tx: Transaction, *, now: datetime | None) -> None:
    """Somebody is at work."""
    await tx.execute(_BEAT, {"now": now})


async def last_beat(tx: Transaction, *, now: datetime | None) -> tuple[datetime | None, datetime]:
    """When somebody was last at work, locked, so that of replicas that start together one ends the outage; and now."""
    row = (await tx.execute(_LAST, {"now": now})).one()
    return row.beat_at, row.instant


async def record(tx: Transaction, outage: Outage) -> None:
    """Remember an outage."""
    row = {"began_at": outage.began_at, "ended_at": outage.ended_at}
    await tx.execute(_RECORD, {"rows": rows_json(row)})


async def outages(tx: Transaction, *, age: timedelta, now: datetime | None) -> tuple[Outage, ...]:
    """Those that ended at most `age` ago, the latest first, up to a bound."""
    parameters = {"age_seconds": age.total_seconds(), "limit": OUTAGES_MAX, "now": now}
    rows = await tx.execute(_OUTAGES, parameters)
    return tuple(Outage(began_at=row.began_at, ended_at=row.ended_at) for row in rows)


async def fail_stale(
    tx: Transaction, known: Sequence[Outage], *, sla: timedelta, limit: int, now: datetime | None
) -> Sequence[TimedOut]:
    """Jobs that fell due in an outage, too long before its end, fail, up to `limit` for each; others' are skipped."""
    parameters = {"rows": _windows(known, sla), "limit": limit, "now": now}
    return [_timed_out(row) for row in (await tx.execute(_FAIL_STALE, parameters)).mappings()]


async def is_any_stale(tx: Transaction, known: Sequence[Outage], *, sla: timedelta, now: datetime | None) -> bool:
    """Whether such a job is left, be it locked by somebody who is about to fail it."""
    parameters = {"rows": _windows(known, sla), "limit": 1, "now": now}
    return bool((await tx.execute(_ANY_STALE, parameters)).scalar_one())


async def insert_failed(
    tx: Transaction, late: Sequence[MessageAccepted], *, now: datetime | None
) -> Sequence[TimedOut]:
    """Messages that are not sent late become failed jobs, and take no turn; those that are known stay as they are."""
    parameters = {"rows": rows_json([row_of(fact) for fact in late]), "now": now}
    return [_timed_out(row) for row in (await tx.execute(_INSERT_FAILED, parameters)).mappings()]


async def close_earlier(tx: Transaction, keys: Sequence[JobKey], *, now: datetime | None) -> set[JobKey]:
    """The windows of unfinished earlier rounds close, so that none of them is sent any more.

    Of which of `keys` an earlier round may have been sent.
    """
    rows = [{"message_id": message_id, "round": round_} for message_id, round_ in sorted(keys)]
    found = await tx.execute(_CLOSE_EARLIER, {"rows": rows_json(rows), "now": now})
    return {(row.message_id, row.next_round) for row in found if row.may_have_left}


def _windows(known: Sequence[Outage], sla: timedelta) -> str:
    return rows_json([{"began_at": one.began_at, "stale_before": one.stale_before(sla)} for one in known])


def _timed_out(row: RowMapping) -> TimedOut:
    return TimedOut(
        ref=ref_of(row), attempt=row["attempt"], code=ErrorCode(row["error_code"]), failed_at=row["finished_at"]
    )
