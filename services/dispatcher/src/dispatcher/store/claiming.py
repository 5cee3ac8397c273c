"""The claim: due jobs of lanes that may send become attempts, in one statement and for one claimant only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.values import MessageRef
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.store.sql import ref_of, sql

_PROMOTE = sql("""
    WITH due AS (
        SELECT message_id, round FROM dispatcher.jobs
         WHERE state = 'SCHEDULED' AND due_at <= {now}
         ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED)
    UPDATE dispatcher.jobs AS job SET state = 'READY', updated_at = {now}
      FROM due WHERE job.message_id = due.message_id AND job.round = due.round
""")

_EXPIRE = sql("""
    WITH late AS (
        SELECT message_id, round FROM dispatcher.jobs
         WHERE state IN ('READY', 'SCHEDULED') AND deliver_until <= {now}
         ORDER BY deliver_until LIMIT :limit FOR UPDATE SKIP LOCKED)
    UPDATE dispatcher.jobs AS job
       SET state = 'FAILED', sealed = NULL, finished_at = {now}, updated_at = {now},
           error_code = CASE WHEN job.duplicate_possible THEN 'UNCONFIRMED'
                             WHEN job.attempt = 0 THEN 'MESSAGE_EXPIRED'
                             ELSE 'EXPIRED_AFTER_ATTEMPTS' END
      FROM late WHERE job.message_id = late.message_id AND job.round = late.round
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at
""")

_HEAD = """
    SELECT FROM dispatcher.jobs AS waiting
     WHERE waiting.instance = lanes.instance AND waiting.priority = slot.priority AND waiting.state = 'READY'
       AND waiting.deliver_until > {now}
     ORDER BY waiting.urgent DESC, waiting.due_at LIMIT 1
"""
"""The order makes the planner take the first entry of one index, whatever it believes about the backlog."""

CLAIM = sql(
    """
    WITH lane AS MATERIALIZED (
        SELECT instance, number_id AS lane_number_id, sealed_access, pacing, gapless,
               otp_slot_at, utility_slot_at, marketing_slot_at,
               CASE WHEN state = 'OPEN' AND probe_failures = 0 THEN max_in_flight ELSE 1 END - in_flight AS room
          FROM dispatcher.lanes
         WHERE (state = 'OPEN' OR trial) AND NOT paused
           AND in_flight < CASE WHEN state = 'OPEN' AND probe_failures = 0 THEN max_in_flight ELSE 1 END
           AND EXISTS (
               SELECT FROM (VALUES (0, otp_slot_at), (1, utility_slot_at), (2, marketing_slot_at))
                           AS slot(priority, opens_at)
                CROSS JOIN LATERAL ({head}) AS head
                WHERE slot.opens_at <= {now})
         ORDER BY least(otp_slot_at, utility_slot_at, marketing_slot_at)
         LIMIT :capacity
           FOR UPDATE SKIP LOCKED),
    chosen AS MATERIALIZED (
        SELECT best.message_id, best.round
          FROM lane CROSS JOIN LATERAL (
               SELECT head.message_id, head.round
                 FROM (VALUES (0, lane.otp_slot_at), (1, lane.utility_slot_at), (2, lane.marketing_slot_at))
                      AS slot(priority, opens_at)
                CROSS JOIN LATERAL (
                      SELECT job.message_id, job.round, job.priority, job.urgent, job.due_at
                        FROM dispatcher.jobs AS job
                       WHERE job.instance = lane.instance AND job.priority = slot.priority AND job.state = 'READY'
                         AND job.deliver_until > {now}
                       ORDER BY job.urgent DESC, job.due_at
                       LIMIT CASE WHEN lane.gapless THEN lane.room ELSE 1 END
                         FOR UPDATE SKIP LOCKED) AS head
                WHERE slot.opens_at <= {now}
                ORDER BY head.priority, head.urgent DESC, head.due_at
                LIMIT CASE WHEN lane.gapless THEN lane.room ELSE 1 END) AS best
         LIMIT :capacity),
    claimed AS (
        UPDATE dispatcher.jobs AS job
           SET state = 'IN_FLIGHT', attempt = job.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = {now} + make_interval(secs => :lease_seconds), started_at = {now}, updated_at = {now}
          FROM chosen
         WHERE job.message_id = chosen.message_id AND job.round = chosen.round
        RETURNING job.*),
    noted AS (
        INSERT INTO dispatcher.attempts (message_id, round, attempt, started_at)
        SELECT message_id, round, attempt, started_at FROM claimed),
    spent AS (
        SELECT instance, count(*) AS jobs, max(lower(category)) AS category,
               coalesce(CAST(:dice AS double precision), random()) AS dice
          FROM claimed GROUP BY instance),
    gaps AS (
        SELECT spent.instance, spent.jobs,
               max(length) FILTER (WHERE slot = 'otp') AS otp, max(length) FILTER (WHERE slot = 'utility') AS utility,
               max(length) FILTER (WHERE slot = 'marketing') AS marketing,
               max(length) FILTER (WHERE slot = spent.category) AS own
          FROM spent JOIN lane USING (instance)
         CROSS JOIN LATERAL (
               SELECT slot, make_interval(secs => ((gap ->> 'min_ms')::double precision + spent.dice *
                      ((gap ->> 'max_ms')::double precision - (gap ->> 'min_ms')::double precision)) / 1000) AS length
                 FROM jsonb_each(lane.pacing) AS policy(slot, gap) WHERE jsonb_typeof(gap) = 'object') AS drawn
         GROUP BY spent.instance, spent.jobs),
    advanced AS (
        UPDATE dispatcher.lanes
           SET in_flight = in_flight + gaps.jobs, trial = false,
               otp_slot_at = greatest(otp_slot_at, {now} + least(gaps.own, gaps.otp)),
               utility_slot_at = greatest(utility_slot_at, {now} + least(gaps.own, gaps.utility)),
               marketing_slot_at = greatest(marketing_slot_at, {now} + least(gaps.own, gaps.marketing))
          FROM gaps WHERE lanes.instance = gaps.instance)
    SELECT claimed.*, lane.sealed_access, lane.lane_number_id FROM claimed JOIN lane USING (instance)
    """,
    head=_HEAD,
)

_NEXT = sql(
    """
    SELECT extract(epoch FROM least(
        (SELECT min(due_at) FROM dispatcher.jobs WHERE state = 'SCHEDULED'),
        (SELECT min(slot.opens_at)
           FROM dispatcher.lanes
          CROSS JOIN LATERAL (VALUES (0, otp_slot_at), (1, utility_slot_at), (2, marketing_slot_at))
                     AS slot(priority, opens_at)
          WHERE (state = 'OPEN' OR trial) AND NOT paused
            AND in_flight < CASE WHEN state = 'OPEN' AND probe_failures = 0 THEN max_in_flight ELSE 1 END
            AND EXISTS ({head}))
    ) - {now})
    """,
    head=_HEAD,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """A job whose delivery window closed."""

    ref: MessageRef
    attempt: int
    code: ErrorCode
    failed_at: datetime


async def promote_due(tx: Transaction, *, limit: int, now: datetime | None) -> int:
    """Due jobs become READY, up to `limit`; how many."""
    return (await tx.execute(_PROMOTE, {"limit": limit, "now": now})).rowcount


async def fail_expired(tx: Transaction, *, limit: int, now: datetime | None) -> Sequence[Expired]:
    """Jobs past their window fail, up to `limit`."""
    rows = (await tx.execute(_EXPIRE, {"limit": limit, "now": now})).mappings()
    return [
        Expired(
            ref=ref_of(row),
            attempt=row["attempt"],
            code=ErrorCode(row["error_code"]),
            failed_at=row["finished_at"],
        )
        for row in rows
    ]


async def claim(
    tx: Transaction, *, capacity: int, lease: timedelta, now: datetime | None = None, dice: float | None = None
) -> Sequence[Attempt]:
    """Up to `capacity` attempts, committed as IN_FLIGHT with this transaction; none past its delivery window."""
    parameters = {"capacity": capacity, "lease_seconds": lease.total_seconds(), "now": now, "dice": dice}
    return [_attempt(row) for row in (await tx.execute(CLAIM, parameters)).mappings()]


async def seconds_until_work(tx: Transaction, *, now: datetime | None) -> float | None:
    """Until something may be claimed or promoted; 0 or less if it may already, None if nothing waits."""
    value = (await tx.execute(_NEXT, {"now": now})).scalar_one()
    return None if value is None else float(value)


def _attempt(row: RowMapping) -> Attempt:
    token: UUID = row["lease_token"]
    return Attempt(
        ref=ref_of(row),
        attempt=row["attempt"],
        lease_token=token,
        started_at=row["started_at"],
        deliver_until=row["deliver_until"],
        sealed=row["sealed"],
        access=SealedAccess(number_id=row["lane_number_id"], sealed=row["sealed_access"]),
        recipient_hash=row["recipient_hash"],
        text_hash=row["text_hash"],
        duplicate_possible=row["duplicate_possible"],
    )
