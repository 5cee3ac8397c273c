"""Canceling: a job that was certainly not sent is ended, and one that has not arrived is forestalled."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from chassis.database import Transaction
from contracts.values import MessageRef
from dispatcher.domain.jobs import PRIORITY, JobKey
from dispatcher.store.flows import UNUSED, UnusedTurn, unused_turn
from dispatcher.store.sql import rows_json, sql

_FORESTALL = sql("""
    INSERT INTO dispatcher.jobs ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until,
                                 recipient_hash, text_hash, created_at, updated_at, finished_at)
    SELECT {ref}, 1, priority, false, 'CANCELED', {now}, {now}, '', '', {now}, {now}, {now}
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS canceled(
           message_id uuid, round integer, tenant_id uuid, project_id uuid, number_id uuid, instance text,
           environment text, category text, correlation_id text, priority smallint)
     ORDER BY message_id, round
        ON CONFLICT (message_id, round) DO NOTHING
    RETURNING message_id, round
""")

_CANCEL = sql(
    """
    WITH unsent AS (
        SELECT job.message_id, job.round, {unused} AS is_unused
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(message_id uuid, round integer)
          JOIN dispatcher.jobs AS job USING (message_id, round)
         WHERE job.state IN ('SCHEDULED', 'READY') AND job.suspected_since IS NULL
         ORDER BY job.message_id, job.round FOR UPDATE OF job)
    UPDATE dispatcher.jobs AS job
       SET state = 'CANCELED', sealed = NULL, reason = NULL, finished_at = {now}, updated_at = {now}
      FROM unsent
     WHERE job.message_id = unsent.message_id AND job.round = unsent.round
       AND job.state IN ('SCHEDULED', 'READY') AND job.suspected_since IS NULL
    RETURNING job.message_id, job.round, job.instance, job.rank, job.tenant_id, job.tenant_weight, unsent.is_unused
    """,
    unused=UNUSED,
)

_CANCELED = sql("""
    SELECT job.message_id, job.finished_at
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(message_id uuid, round integer)
      JOIN dispatcher.jobs AS job USING (message_id, round)
     WHERE job.state = 'CANCELED'
""")


async def forestall(tx: Transaction, refs: Sequence[MessageRef], *, now: datetime | None) -> set[JobKey]:
    """A canceled job for each message that has not arrived, so that its arrival changes nothing; which these were.

    Waits for an arrival that is just being stored: the job is then known to the statement that follows.
    """
    rows = [{**ref.model_dump(mode="json"), "priority": PRIORITY[ref.category]} for ref in refs]
    result = await tx.execute(_FORESTALL, {"rows": rows_json(rows), "now": now})
    return {(row.message_id, row.round) for row in result}


async def cancel_unsent(
    tx: Transaction, refs: Sequence[MessageRef], *, now: datetime | None
) -> Mapping[JobKey, UnusedTurn | None]:
    """End the jobs of which no attempt can have been sent; which these were, and the turns they did not have.

    A claim that came first wins.
    """
    rows = (await tx.execute(_CANCEL, {"rows": rows_json(_keys(refs)), "now": now})).mappings()
    return {(row["message_id"], row["round"]): unused_turn(row) for row in rows}


async def canceled_at(tx: Transaction, refs: Sequence[MessageRef]) -> Mapping[UUID, datetime]:
    """Those of the messages that are canceled, now or before, and since when."""
    rows = await tx.execute(_CANCELED, {"rows": rows_json(_keys(refs))})
    return {row.message_id: row.finished_at for row in rows}


def _keys(refs: Sequence[MessageRef]) -> list[dict[str, object]]:
    return [{"message_id": ref.message_id, "round": ref.round} for ref in refs]
