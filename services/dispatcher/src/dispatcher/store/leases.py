"""Leases on attempts in flight: prolonged by whoever holds them, taken away when nobody does."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from chassis.database import Transaction
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobKey
from dispatcher.store.sql import ref_of, rows_json, sql

_RENEW = sql("""
    WITH held AS (
        SELECT job.message_id, job.round
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(message_id uuid, round integer, lease_token uuid)
          JOIN dispatcher.jobs AS job USING (message_id, round)
         WHERE job.state = 'IN_FLIGHT' AND job.lease_token = given.lease_token
           FOR UPDATE OF job SKIP LOCKED)
    UPDATE dispatcher.jobs AS job
       SET lease_until = {now} + make_interval(secs => :lease_seconds)
      FROM held WHERE job.message_id = held.message_id AND job.round = held.round
    RETURNING job.lease_token
""")

_TAKE_LOST = sql("""
    SELECT {ref}, attempt, started_at, deliver_until, place_given_up, {now} AS instant FROM dispatcher.jobs
     WHERE state = 'IN_FLIGHT' AND lease_until < {now}
     ORDER BY lease_until LIMIT :limit FOR UPDATE SKIP LOCKED
""")

_MARK_LOST = sql("""
    WITH lost AS (
        SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
               message_id uuid, round integer, attempt integer, reason text, resolve_after timestamptz,
               resolve_by timestamptz, lost_at timestamptz)),
    noted AS (
        UPDATE dispatcher.attempts AS tried
           SET finished_at = lost.lost_at, outcome = 'UNKNOWN', reason = lost.reason
          FROM lost
         WHERE tried.message_id = lost.message_id AND tried.round = lost.round AND tried.attempt = lost.attempt)
    UPDATE dispatcher.jobs AS job
       SET state = 'UNCERTAIN', reason = lost.reason, lease_token = NULL, lease_until = NULL,
           suspected_since = coalesce(job.suspected_since, job.started_at), resolve_after = lost.resolve_after,
           resolve_by = lost.resolve_by, next_check_at = lost.lost_at, check_failures = 0, updated_at = lost.lost_at
      FROM lost WHERE job.message_id = lost.message_id AND job.round = lost.round
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """An attempt whose caller has not been heard of; `lost_at` is now. `holds_place`: it counts as in flight."""

    ref: MessageRef
    attempt: int
    started_at: datetime
    deliver_until: datetime
    holds_place: bool
    lost_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLost:
    """How a lost attempt is to be resolved."""

    lost: Lost
    reason: str
    resolve_after: datetime
    resolve_by: datetime


async def renew(
    tx: Transaction, leases: Collection[tuple[JobKey, UUID]], *, lease: timedelta, now: datetime | None = None
) -> set[UUID]:
    """Prolong leases; the tokens that still hold. One that is just being settled may be missing."""
    rows = [{"message_id": message_id, "round": round_, "lease_token": token} for (message_id, round_), token in leases]
    parameters = {"rows": rows_json(rows), "lease_seconds": lease.total_seconds(), "now": now}
    return set((await tx.execute(_RENEW, parameters)).scalars())


async def take_lost(tx: Transaction, *, limit: int, now: datetime | None) -> Sequence[Lost]:
    """Attempts whose lease ran out, locked."""
    rows = (await tx.execute(_TAKE_LOST, {"limit": limit, "now": now})).mappings()
    return [
        Lost(
            ref=ref_of(row),
            attempt=row["attempt"],
            started_at=row["started_at"],
            deliver_until=row["deliver_until"],
            holds_place=not row["place_given_up"],
            lost_at=row["instant"],
        )
        for row in rows
    ]


async def mark_lost(tx: Transaction, marked: Sequence[MarkedLost]) -> None:
    """Locked attempts become uncertain: never READY, for their call may have been made."""
    rows = [
        {
            "message_id": one.lost.ref.message_id,
            "round": one.lost.ref.round,
            "attempt": one.lost.attempt,
            "reason": one.reason,
            "resolve_after": one.resolve_after,
            "resolve_by": one.resolve_by,
            "lost_at": one.lost.lost_at,
        }
        for one in marked
    ]
    await tx.execute(_MARK_LOST, {"rows": rows_json(rows)})
