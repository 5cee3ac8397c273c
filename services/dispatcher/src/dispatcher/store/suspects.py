"""Jobs with an attempt of unknown outcome: which are due for a look, who shares their content, how they end."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

from sqlalchemy import RowMapping

from chassis.database import Transaction
from dispatcher.domain.evidence import Conclusion, Confirmed, GivenUp, Resend, Wait
from dispatcher.domain.jobs import JobKey, JobState, Suspect
from dispatcher.store.contacts import REMEMBER, REMEMBERED
from dispatcher.store.sql import prefixed, ref_of, rows_json, sql

_COLUMNS = """state, attempt, suspected_since, started_at, deliver_until, resolve_after, resolve_by, check_failures,
              duplicate_possible, sealed, recipient_hash, text_hash"""

_TAKE_DUE = sql(
    """
    WITH due AS (
        SELECT message_id, round FROM dispatcher.jobs
         WHERE state = 'UNCERTAIN' AND next_check_at <= {now}
         ORDER BY next_check_at LIMIT :limit FOR UPDATE SKIP LOCKED)
    UPDATE dispatcher.jobs AS job SET next_check_at = {now} + make_interval(secs => :busy_seconds)
      FROM due WHERE job.message_id = due.message_id AND job.round = due.round
    RETURNING {job_ref}, {columns}, {now} AS instant
    """,
    columns=prefixed(_COLUMNS, "job"),
)

_LOCK_ALIKE = sql(
    """
    SELECT {ref}, {columns} FROM dispatcher.jobs AS job
     WHERE suspected_since IS NOT NULL AND state IN ('UNCERTAIN', 'READY', 'SCHEDULED')
       AND (instance, recipient_hash, text_hash) IN (
           SELECT instance, recipient_hash, text_hash FROM jsonb_to_recordset(CAST(:rows AS jsonb))
               AS given(instance text, recipient_hash text, text_hash text))
       AND NOT EXISTS (
           SELECT FROM dispatcher.jobs AS calling
            WHERE calling.state = 'IN_FLIGHT' AND calling.instance = job.instance
              AND calling.recipient_hash = job.recipient_hash AND calling.text_hash = job.text_hash)
     ORDER BY message_id, round FOR UPDATE
    """,
    columns=_COLUMNS,
)

_LOCK_THESE = sql(
    """
    SELECT {ref}, {columns} FROM dispatcher.jobs AS job
     WHERE suspected_since IS NOT NULL AND state IN ('UNCERTAIN', 'READY', 'SCHEDULED')
       AND (message_id, round) IN (
           SELECT message_id, round FROM jsonb_to_recordset(CAST(:rows AS jsonb))
               AS given(message_id uuid, round integer))
     ORDER BY message_id, round FOR UPDATE
    """,
    columns=_COLUMNS,
)

_CONCLUDE = sql(
    """
    WITH concluded AS (
        UPDATE dispatcher.jobs AS job
           SET state = given.state, key_id = coalesce(given.key_id, job.key_id),
               proof = coalesce(given.proof, job.proof), error_code = given.error_code,
               duplicate_possible = coalesce(given.duplicate_possible, job.duplicate_possible),
               next_check_at = given.next_check_at, check_failures = given.check_failures,
               sealed = CASE WHEN given.is_final THEN NULL ELSE job.sealed END,
               finished_at = CASE WHEN given.is_final THEN given.concluded_at END, updated_at = given.concluded_at
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
               message_id uuid, round integer, attempt integer, known_state text, concluded_at timestamptz, state text,
               key_id text, proof text, error_code text, duplicate_possible boolean, next_check_at timestamptz,
               check_failures integer, is_final boolean)
         WHERE job.message_id = given.message_id AND job.round = given.round AND job.attempt = given.attempt
           AND job.state = given.known_state
        RETURNING job.message_id, job.round, {remembered}),
    remembered AS ({remember})
    SELECT message_id, round FROM concluded
    """,
    remember=REMEMBER.format(moved="concluded"),
    remembered=REMEMBERED,
)


async def take_due(
    tx: Transaction, *, limit: int, busy: timedelta, now: datetime | None
) -> tuple[Sequence[Suspect], datetime | None]:
    """Uncertain jobs whose look is due, for this process alone during `busy`; and the instant."""
    parameters = {"limit": limit, "busy_seconds": busy.total_seconds(), "now": now}
    rows = (await tx.execute(_TAKE_DUE, parameters)).mappings().all()
    return [_suspect(row) for row in rows], rows[0]["instant"] if rows else None


async def lock_alike(tx: Transaction, contents: Collection[tuple[str, str, str]]) -> Sequence[Suspect]:
    """All suspects of these contents, locked.

    None of a content that is being sent right now: its trace may be of that call.
    """
    rows = [
        {"instance": instance, "recipient_hash": recipient, "text_hash": text}
        for instance, recipient, text in sorted(set(contents))
    ]
    found = (await tx.execute(_LOCK_ALIKE, {"rows": rows_json(rows)})).mappings()
    return [_suspect(row) for row in found]


async def lock_these(tx: Transaction, keys: Collection[JobKey]) -> Sequence[Suspect]:
    """Those of the jobs whose outcome is still open and that are not being sent right now, locked."""
    rows = [{"message_id": message_id, "round": round_} for message_id, round_ in sorted(keys)]
    return [_suspect(row) for row in (await tx.execute(_LOCK_THESE, {"rows": rows_json(rows)})).mappings()]


async def conclude(tx: Transaction, conclusions: Sequence[tuple[Suspect, Conclusion]], *, now: datetime) -> set[JobKey]:
    """Write conclusions about suspects that are still as they were; the jobs that were."""
    rows = [
        {
            "message_id": suspect.ref.message_id,
            "round": suspect.ref.round,
            "attempt": suspect.attempt,
            "known_state": suspect.state,
            "concluded_at": now,
            "check_failures": 0,
            **_columns(conclusion),
        }
        for suspect, conclusion in conclusions
    ]
    result = await tx.execute(_CONCLUDE, {"rows": rows_json(rows)})
    return {(row.message_id, row.round) for row in result}


def _columns(conclusion: Conclusion) -> dict[str, Any]:
    match conclusion:
        case Confirmed():
            return {
                "state": JobState.DISPATCHED,
                "key_id": conclusion.key_id,
                "proof": conclusion.proof,
                "is_final": True,
            }
        case Resend():
            return {"state": JobState.SCHEDULED, "duplicate_possible": conclusion.duplicate_possible}
        case GivenUp():
            return {"state": JobState.FAILED, "error_code": conclusion.code, "is_final": True}
        case Wait():
            return {
                "state": JobState.UNCERTAIN,
                "next_check_at": conclusion.until,
                "check_failures": conclusion.failures,
            }
        case _:
            assert_never(conclusion)


def _suspect(row: RowMapping) -> Suspect:
    return Suspect(
        ref=ref_of(row),
        state=JobState(row["state"]),
        attempt=row["attempt"],
        since=row["suspected_since"],
        started_at=row["started_at"],
        deliver_until=row["deliver_until"],
        resolve_after=row["resolve_after"] or row["started_at"],
        resolve_by=row["resolve_by"] or row["started_at"],
        check_failures=row["check_failures"],
        duplicate_possible=row["duplicate_possible"],
        sealed=row["sealed"],
        recipient_hash=row["recipient_hash"],
        text_hash=row["text_hash"],
    )
