"""Removed numbers: their lanes send nothing, and the jobs that wait in them fail."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.facts import NumberRemoved
from dispatcher.store.failing import FailedJob, failed_job
from dispatcher.store.flows import UNUSED
from dispatcher.store.lanes import UNUSED_PACE
from dispatcher.store.sql import sql

_REASON = "NUMBER_REMOVED"

# `paused` keeps the claim away, `probe_at` the probes. A number nobody had heard of leaves a mark as well, so that its
# configuration, if it comes late, does not open a lane. Numbers have time-ordered ids: of two on one instance the
# younger counts.
_REMOVE = sql(
    """
    INSERT INTO dispatcher.lanes AS lane (
           instance, number_id, version, gateway, sealed_access, pacing, platform_default, max_in_flight, paused,
           gap_at, hour_at, day_at, passed, cold_at, floors, virtual, state, state_reason, state_observed_at,
           removed_at)
    VALUES (:instance, :number_id, :version, '', '', '{}', false, 1, true, {idle}, {idle}, {idle}, ARRAY[0, 0, 0],
            {now}, {zeros_by_stream}, {zeros_by_rank}, 'CLOSE', '{reason}', {now}, {now})
        ON CONFLICT (instance) DO UPDATE
       SET number_id = excluded.number_id, version = excluded.version, paused = true, state = 'CLOSE',
           state_reason = excluded.state_reason, suspect = false, trial = false, probe_at = NULL, probe_failures = 0,
           state_observed_at = greatest(lane.state_observed_at, excluded.state_observed_at),
           removed_at = coalesce(lane.removed_at, excluded.removed_at)
     WHERE lane.number_id = excluded.number_id AND lane.version <= excluded.version
        OR lane.number_id < excluded.number_id
    """,
    reason=_REASON,
    **UNUSED_PACE,
)

# The orders are those of two indexes, so that the planner walks these, whatever it believes about the backlog.
_FAIL_WAITING = sql(
    """
    WITH ready AS MATERIALIZED (
        SELECT head.message_id, head.round, head.is_unused
          FROM dispatcher.lanes AS lane CROSS JOIN LATERAL (
               SELECT message_id, round, {unused} AS is_unused FROM dispatcher.jobs AS job
                WHERE instance = lane.instance AND state = 'READY' AND suspected_since IS NULL
                ORDER BY rank, environment, cold, tag, due_at, message_id LIMIT :limit FOR UPDATE SKIP LOCKED) AS head
         WHERE lane.removed_at IS NOT NULL LIMIT :limit),
    scheduled AS MATERIALIZED (
        SELECT head.message_id, head.round, head.is_unused
          FROM dispatcher.lanes AS lane CROSS JOIN LATERAL (
               SELECT message_id, round, {unused} AS is_unused FROM dispatcher.jobs AS job
                WHERE instance = lane.instance AND state = 'SCHEDULED' AND suspected_since IS NULL
                ORDER BY priority LIMIT :limit FOR UPDATE SKIP LOCKED) AS head
         WHERE lane.removed_at IS NOT NULL LIMIT :limit)
    UPDATE dispatcher.jobs AS job
       SET state = 'FAILED', sealed = NULL, reason = '{code}', error_code = '{code}', finished_at = {now},
           updated_at = {now}
      FROM (SELECT * FROM ready UNION ALL SELECT * FROM scheduled LIMIT :limit) AS doomed
     WHERE job.message_id = doomed.message_id AND job.round = doomed.round
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at, job.rank, job.tenant_weight, doomed.is_unused
    """,
    code=ErrorCode.NUMBER_NOT_FOUND_REMOVED.value,
    unused=UNUSED,
)

_CONSUMED = sql("""
    SELECT instance FROM dispatcher.lanes
     WHERE removed_at IS NULL OR removed_at > {now} - make_interval(secs => :drain_seconds)
     ORDER BY instance
""")

_FORGET = sql("""
    WITH old AS (
        SELECT lane.instance FROM dispatcher.lanes AS lane
         WHERE lane.removed_at < {now} - make_interval(secs => :age_seconds) AND lane.in_flight = 0
           AND NOT EXISTS (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = lane.instance AND job.state IN ('SCHEDULED', 'UNCERTAIN'))
         ORDER BY lane.removed_at LIMIT :limit FOR UPDATE OF lane SKIP LOCKED)
    DELETE FROM dispatcher.lanes USING old WHERE lanes.instance = old.instance
""")


async def remove(tx: Transaction, fact: NumberRemoved, *, now: datetime | None) -> bool:
    """Close a lane for good, or until a higher version of its number is configured. False for old news."""
    parameters = {"instance": fact.instance, "number_id": fact.number_id, "version": fact.version, "now": now}
    return (await tx.execute(_REMOVE, parameters)).rowcount > 0


async def fail_waiting(tx: Transaction, *, limit: int, now: datetime | None) -> Sequence[FailedJob]:
    """Fail jobs of removed lanes that were certainly not sent, up to `limit`; what is suspected is not touched."""
    rows = (await tx.execute(_FAIL_WAITING, {"limit": limit, "now": now})).mappings()
    return [failed_job(row) for row in rows]


async def consumed(tx: Transaction, *, drain: timedelta, now: datetime | None) -> Sequence[str]:
    """Lanes whose queue is consumed; a removed one's for a while yet, for what was accepted at the last moment."""
    result = await tx.execute(_CONSUMED, {"drain_seconds": drain.total_seconds(), "now": now})
    return list(result.scalars())


async def forget(tx: Transaction, *, older_than: timedelta, limit: int, now: datetime | None) -> int:
    """Delete lanes that were removed so long ago, up to `limit`; how many."""
    parameters = {"age_seconds": older_than.total_seconds(), "limit": limit, "now": now}
    return (await tx.execute(_FORGET, parameters)).rowcount
