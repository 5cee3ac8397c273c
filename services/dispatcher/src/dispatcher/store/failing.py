"""Jobs that fail without being tried again: their window closed, or they would say the same again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobKey
from dispatcher.store.flows import UNUSED, UnusedTurn, unused_turn
from dispatcher.store.sql import ref_of, rows_json, sql

_EXPIRE = sql(
    """
    WITH late AS (
        SELECT message_id, round, {unused} AS is_unused FROM dispatcher.jobs AS job
         WHERE state IN ('READY', 'SCHEDULED') AND deliver_until <= {now}
         ORDER BY deliver_until LIMIT :limit FOR UPDATE SKIP LOCKED)
    UPDATE dispatcher.jobs AS job
       SET state = 'FAILED', sealed = NULL, finished_at = {now}, updated_at = {now},
           error_code = CASE WHEN job.duplicate_possible THEN 'UNCONFIRMED'
                             WHEN job.attempt = 0 THEN 'MESSAGE_EXPIRED'
                             ELSE 'EXPIRED_AFTER_ATTEMPTS' END
      FROM late WHERE job.message_id = late.message_id AND job.round = late.round
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at, job.rank, job.tenant_weight, late.is_unused
    """,
    unused=UNUSED,
)

_SUPPRESS = sql(
    """
    WITH chosen AS (
        SELECT job.message_id, job.round, {unused} AS is_unused
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(message_id uuid, round integer)
          JOIN dispatcher.jobs AS job USING (message_id, round)
         WHERE job.state = 'READY' FOR UPDATE OF job SKIP LOCKED)
    UPDATE dispatcher.jobs AS job
       SET state = 'FAILED', sealed = NULL, finished_at = {now}, updated_at = {now},
           error_code = 'DUPLICATE_SUPPRESSED', reason = 'DUPLICATE_SUPPRESSED'
      FROM chosen WHERE job.message_id = chosen.message_id AND job.round = chosen.round
    RETURNING {job_ref}, job.attempt, job.error_code, job.finished_at, job.rank, job.tenant_weight, chosen.is_unused
    """,
    unused=UNUSED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJob:
    """A job that ended without a call; `unused` is the turn it did not have."""

    ref: MessageRef
    attempt: int
    code: ErrorCode
    failed_at: datetime
    unused: UnusedTurn | None


async def fail_expired(tx: Transaction, *, limit: int, now: datetime | None) -> Sequence[FailedJob]:
    """Jobs past their window fail, up to `limit`."""
    return [failed_job(row) for row in (await tx.execute(_EXPIRE, {"limit": limit, "now": now})).mappings()]


async def suppress(tx: Transaction, keys: Sequence[JobKey], *, now: datetime | None) -> Sequence[FailedJob]:
    """READY jobs that repeat what their recipient was told last fail; those that somebody locked are left."""
    rows = [{"message_id": message_id, "round": round_} for message_id, round_ in keys]
    return [failed_job(row) for row in (await tx.execute(_SUPPRESS, {"rows": rows_json(rows), "now": now})).mappings()]


def failed_job(row: RowMapping) -> FailedJob:
    """From the row of a job that ended, with `is_unused` as it was before."""
    return FailedJob(
        ref=ref_of(row),
        attempt=row["attempt"],
        code=ErrorCode(row["error_code"]),
        failed_at=row["finished_at"],
        unused=unused_turn(row),
    )
