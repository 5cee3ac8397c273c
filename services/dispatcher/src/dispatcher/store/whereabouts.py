"""Where one job is, and how many jobs are where."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobState
from dispatcher.domain.whereabouts import Whereabouts
from dispatcher.store.sql import ref_of, sql

_LOCATE = sql("""
    SELECT {job_ref}, job.state, job.attempt, job.due_at, job.reason, job.resolve_by, job.key_id, job.proof,
           job.error_code, job.duplicate_possible, job.finished_at, job.updated_at, job.due_at <= {now} AS is_due,
           coalesce(lane.state = 'OPEN', false) AS lane_open, coalesce(lane.paused, false) AS lane_paused
      FROM dispatcher.jobs AS job LEFT JOIN dispatcher.lanes AS lane USING (instance)
     WHERE job.message_id = :message_id AND job.round = :round
""")

_COUNT = sql("""
    SELECT 'SCHEDULED' AS state, count(*) AS jobs
      FROM (SELECT FROM dispatcher.jobs WHERE state = 'SCHEDULED' LIMIT :limit) AS found
    UNION ALL
    SELECT 'READY', count(*) FROM (SELECT FROM dispatcher.jobs WHERE state = 'READY' LIMIT :limit) AS found
    UNION ALL
    SELECT 'IN_FLIGHT', count(*) FROM (SELECT FROM dispatcher.jobs WHERE state = 'IN_FLIGHT' LIMIT :limit) AS found
    UNION ALL
    SELECT 'UNCERTAIN', count(*) FROM (SELECT FROM dispatcher.jobs WHERE state = 'UNCERTAIN' LIMIT :limit) AS found
""")

_PURGE = sql("""
    WITH old AS (
        SELECT message_id, round FROM dispatcher.jobs
         WHERE finished_at < {now} - make_interval(secs => :age_seconds)
         ORDER BY finished_at LIMIT :limit FOR UPDATE SKIP LOCKED),
    forgotten AS (
        DELETE FROM dispatcher.attempts AS tried USING old
         WHERE tried.message_id = old.message_id AND tried.round = old.round)
    DELETE FROM dispatcher.jobs AS job USING old WHERE job.message_id = old.message_id AND job.round = old.round
""")


async def locate(tx: Transaction, ref: MessageRef, *, now: datetime | None = None) -> Whereabouts | None:
    """The job of a message's round, if there is one."""
    result = await tx.execute(_LOCATE, {"message_id": ref.message_id, "round": ref.round, "now": now})
    row = result.mappings().one_or_none()
    return None if row is None else _whereabouts(row)


async def count_open(tx: Transaction, *, limit: int) -> Mapping[JobState, int]:
    """Unfinished jobs by state; counting stops at `limit` each."""
    return {JobState(row.state): row.jobs for row in await tx.execute(_COUNT, {"limit": limit})}


async def purge_finished(tx: Transaction, *, older_than: timedelta, limit: int, now: datetime | None) -> int:
    """Forget finished jobs and their attempts, up to `limit` jobs; how many."""
    parameters = {"age_seconds": older_than.total_seconds(), "limit": limit, "now": now}
    return (await tx.execute(_PURGE, parameters)).rowcount


def _whereabouts(row: RowMapping) -> Whereabouts:
    return Whereabouts(
        ref=ref_of(row),
        state=JobState(row["state"]),
        attempt=row["attempt"],
        due_at=row["due_at"],
        is_due=row["is_due"],
        reason=row["reason"],
        resolve_by=row["resolve_by"],
        key_id=row["key_id"],
        proof=row["proof"],
        error_code=row["error_code"],
        duplicate_possible=row["duplicate_possible"],
        finished_at=row["finished_at"],
        updated_at=row["updated_at"],
        lane_open=row["lane_open"],
        lane_paused=row["lane_paused"],
    )
