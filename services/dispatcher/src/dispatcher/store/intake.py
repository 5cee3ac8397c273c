"""Messages become jobs, once each, however often they arrive."""

from collections.abc import Sequence
from datetime import datetime

from chassis.database import Transaction
from contracts.facts import MessageAccepted
from dispatcher.domain.jobs import PRIORITY, JobKey
from dispatcher.store.sql import rows_json, sql

_INSERT = sql("""
    INSERT INTO dispatcher.jobs ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until, sealed,
                                 recipient_hash, text_hash, created_at, updated_at)
    SELECT {ref}, tenant_weight, priority, urgent,
           CASE WHEN deliver_by <= {now} THEN 'READY' ELSE 'SCHEDULED' END, deliver_by, deliver_until, sealed,
           recipient_hash, text_hash, {now}, {now}
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS accepted(
           message_id uuid, round integer, tenant_id uuid, project_id uuid, number_id uuid, instance text,
           environment text, category text, correlation_id text, tenant_weight integer, priority smallint,
           urgent boolean, deliver_by timestamptz, deliver_until timestamptz, sealed text, recipient_hash text,
           text_hash text)
     ORDER BY message_id, round
        ON CONFLICT (message_id, round) DO NOTHING
    RETURNING message_id, round
""")


_INSERT_SUSPECT = sql("""
    INSERT INTO dispatcher.jobs ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until, sealed,
                                 recipient_hash, text_hash, attempt, reason, suspected_since, started_at,
                                 resolve_after, resolve_by, next_check_at)
    SELECT {ref}, tenant_weight, priority, urgent, 'UNCERTAIN', deliver_by, deliver_until, sealed,
           recipient_hash, text_hash, 1, :reason, deliver_by, :now, :resolve_after, :resolve_by, :now
      FROM jsonb_to_record(CAST(:rows AS jsonb)) AS accepted(
           message_id uuid, round integer, tenant_id uuid, project_id uuid, number_id uuid, instance text,
           environment text, category text, correlation_id text, tenant_weight integer, priority smallint,
           urgent boolean, deliver_by timestamptz, deliver_until timestamptz, sealed text, recipient_hash text,
           text_hash text)
        ON CONFLICT (message_id, round) DO NOTHING
""")


async def insert_jobs(tx: Transaction, accepted: Sequence[MessageAccepted], *, now: datetime | None) -> set[JobKey]:
    """The jobs that are new; those already known stay as they are."""
    result = await tx.execute(_INSERT, {"rows": rows_json([_row(fact) for fact in accepted]), "now": now})
    return {(row.message_id, row.round) for row in result}


async def insert_suspect(
    tx: Transaction,
    accepted: MessageAccepted,
    *,
    reason: str,
    resolve_after: datetime,
    resolve_by: datetime,
    now: datetime,
) -> bool:
    """A lost job of which an attempt may have been sent comes back as uncertain; True if it was unknown."""
    parameters = {
        "rows": rows_json(_row(accepted)),
        "reason": reason,
        "resolve_after": resolve_after,
        "resolve_by": resolve_by,
        "now": now,
    }
    return (await tx.execute(_INSERT_SUSPECT, parameters)).rowcount > 0


def _row(fact: MessageAccepted) -> dict[str, object]:
    return {
        **fact.ref.model_dump(mode="json"),
        "tenant_weight": fact.tenant_weight,
        "priority": PRIORITY[fact.ref.category],
        "urgent": fact.urgent,
        "deliver_by": fact.deliver_by,
        "deliver_until": fact.deliver_until,
        "sealed": fact.sealed,
        "recipient_hash": fact.recipient_hash,
        "text_hash": fact.text_hash,
    }
