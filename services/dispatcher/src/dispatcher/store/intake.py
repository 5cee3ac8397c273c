"""Messages become jobs, once each, however often they arrive; what is due already takes its place in its lane."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from chassis.database import Transaction
from contracts.facts import MessageAccepted
from dispatcher.domain.jobs import PRIORITY, JobKey, JobState
from dispatcher.store.sql import rows_json, sql

_LOCK_LANES = sql("SELECT FROM dispatcher.lanes WHERE instance = ANY(:instances) ORDER BY instance FOR UPDATE")

INSERT = sql("""
    WITH fresh AS MATERIALIZED (
        SELECT given.*, given.deliver_by AS due_at, CAST(given.priority * 2 + CASE WHEN given.urgent THEN 0 ELSE 1 END
                   AS smallint) AS rank, lane.virtual, true AS is_new,
               lane.instance IS NULL AS is_homeless, given.deliver_by <= {now} AS is_due,
               NOT EXISTS (SELECT FROM dispatcher.contacts AS contact
                            WHERE contact.instance = given.instance
                              AND contact.recipient_hash = given.recipient_hash) AS cold
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given({accepted})
          LEFT JOIN dispatcher.lanes AS lane ON lane.instance = given.instance
         WHERE NOT EXISTS (SELECT FROM dispatcher.jobs AS known
                            WHERE known.message_id = given.message_id AND known.round = given.round)),
    tagged AS MATERIALIZED (
        SELECT message_id, round, instance, rank, tenant_id, tenant_weight, {tag} AS tag
          FROM fresh LEFT JOIN dispatcher.flows AS flow USING (instance, rank, tenant_id)
         WHERE is_due AND NOT is_homeless),
    inserted AS (
        INSERT INTO dispatcher.jobs ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until, sealed,
                                     recipient_hash, text_hash, duplicate_possible, cold, tag, parked, created_at,
                                     updated_at)
        SELECT fresh.message_id, fresh.round, fresh.tenant_id, fresh.project_id, fresh.number_id, fresh.instance,
               fresh.environment, fresh.category, fresh.correlation_id, fresh.tenant_weight, fresh.priority,
               fresh.urgent, CASE WHEN tagged.tag IS NULL THEN 'SCHEDULED' ELSE 'READY' END, fresh.due_at,
               fresh.deliver_until, fresh.sealed, fresh.recipient_hash, fresh.text_hash, fresh.duplicate_possible,
               fresh.cold, tagged.tag, fresh.is_due AND fresh.is_homeless, {now}, {now}
          FROM fresh LEFT JOIN tagged USING (message_id, round)
         ORDER BY fresh.message_id, fresh.round
            ON CONFLICT (message_id, round) DO NOTHING
        RETURNING message_id, round, state),
    flowed AS (
        INSERT INTO dispatcher.flows (instance, rank, tenant_id, finish)
        SELECT instance, rank, tenant_id, max(tag + 1.0::double precision / tenant_weight)
          FROM tagged GROUP BY instance, rank, tenant_id
            ON CONFLICT (instance, rank, tenant_id) DO UPDATE SET finish = greatest(flows.finish, excluded.finish)),
    woken AS (
        UPDATE dispatcher.lanes AS lane SET wake_at = {now}
         WHERE lane.instance IN (SELECT instance FROM tagged) AND {room} > 0
           AND (lane.wake_at IS NULL OR lane.wake_at > {now}))
    SELECT message_id, round, state FROM inserted
""")

_INSERT_SUSPECT = sql("""
    INSERT INTO dispatcher.jobs ({ref}, tenant_weight, priority, urgent, state, due_at, deliver_until, sealed,
                                 recipient_hash, text_hash, duplicate_possible, attempt, reason, suspected_since,
                                 started_at, resolve_after, resolve_by, next_check_at)
    SELECT {ref}, tenant_weight, priority, urgent, 'UNCERTAIN', deliver_by, deliver_until, sealed,
           recipient_hash, text_hash, duplicate_possible, 1, :reason, deliver_by, :now, :resolve_after, :resolve_by,
           :now
      FROM jsonb_to_record(CAST(:rows AS jsonb)) AS accepted({accepted})
        ON CONFLICT (message_id, round) DO NOTHING
""")


async def lock_lanes(tx: Transaction, instances: Collection[str]) -> None:
    """Nobody else claims there or brings jobs in until the end of the transaction; in one order everywhere.

    A statement of its own: the next one then sees what others did in these lanes before.
    """
    await tx.execute(_LOCK_LANES, {"instances": sorted(set(instances))})


async def insert_jobs(
    tx: Transaction, accepted: Sequence[MessageAccepted], *, now: datetime | None
) -> Mapping[JobKey, JobState]:
    """The jobs that are new, READY in a locked lane or SCHEDULED; those already known stay as they are."""
    distinct = {(fact.ref.message_id, fact.ref.round): fact for fact in accepted}
    result = await tx.execute(INSERT, {"rows": rows_json([row_of(fact) for fact in distinct.values()]), "now": now})
    return {(row.message_id, row.round): JobState(row.state) for row in result}


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
        "rows": rows_json(row_of(accepted)),
        "reason": reason,
        "resolve_after": resolve_after,
        "resolve_by": resolve_by,
        "now": now,
    }
    return (await tx.execute(_INSERT_SUSPECT, parameters)).rowcount > 0


def row_of(fact: MessageAccepted) -> dict[str, object]:
    """An accepted message as a row of `{accepted}`."""
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
        "duplicate_possible": fact.duplicate_possible,
    }
