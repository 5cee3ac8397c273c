"""Statements about what is owed to customers and what came of it."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Boolean, DateTime, Integer, Interval, SmallInteger, Text, bindparam, delete, select, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.types import Uuid

from chassis.database import Transaction
from notifier.domain.settlement import Backlog, EndpointOutcome, Planned, Settlement, SwitchedOff
from notifier.domain.subjects import Ref, subject_of
from notifier.tables import deliveries, delivery_attempts

_MOMENT = DateTime(timezone=True)

EARLIER_NEWS_GRACE = timedelta(seconds=2)
"""How long news waits for the news before it, which another replica is about to write down."""

_PLAN = text("""
INSERT INTO notifier.deliveries (delivery_id, endpoint_id, tenant_id, message_id, round, version, event, ref,
                                 sealed_body, changed_at, due_at)
VALUES (:delivery_id, :endpoint_id, :tenant_id, :message_id, :round, :version, :event, :ref, :sealed_body, :changed_at,
        clock_timestamp() + CASE WHEN :follows AND NOT EXISTS (
            SELECT FROM notifier.deliveries
             WHERE endpoint_id = :endpoint_id AND message_id = :message_id AND version = CAST(:version AS integer) - 1)
        THEN :grace ELSE interval '0' END)
ON CONFLICT DO NOTHING
""").bindparams(
    bindparam("delivery_id", type_=Uuid),
    bindparam("endpoint_id", type_=Uuid),
    bindparam("tenant_id", type_=Uuid),
    bindparam("message_id", type_=Uuid),
    bindparam("version", type_=Integer),
    bindparam("round", type_=Integer),
    bindparam("ref", type_=JSONB),
    bindparam("changed_at", type_=_MOMENT),
    bindparam("follows", type_=Boolean),
    bindparam("grace", type_=Interval),
)

_SETTLE = text("""
UPDATE notifier.deliveries AS d
   SET state = s.state, due_at = coalesce(s.due_at, d.due_at), last_status = s.status, last_problem = s.problem,
       lease_token = NULL, lease_until = NULL,
       finished_at = CASE WHEN s.state = 'PENDING' THEN NULL ELSE s.finished_at END
  FROM unnest(:ids, :tokens, :states, :dues, :statuses, :problems, :finished)
       AS s (delivery_id, lease_token, state, due_at, status, problem, finished_at)
 WHERE d.delivery_id = s.delivery_id AND d.lease_token = s.lease_token AND d.state = 'SENDING'
RETURNING d.delivery_id
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("tokens", type_=ARRAY(Uuid)),
    bindparam("states", type_=ARRAY(Text)),
    bindparam("dues", type_=ARRAY(_MOMENT)),
    bindparam("statuses", type_=ARRAY(SmallInteger)),
    bindparam("problems", type_=ARRAY(Text)),
    bindparam("finished", type_=ARRAY(_MOMENT)),
)

_RECORD_OUTCOMES = text("""
WITH outcome AS (
    SELECT * FROM unnest(:ids, :calls, :failed, :succeeded, :disable, :at)
        AS o (endpoint_id, calls, failed, succeeded, disable, at)
), locked AS (
    SELECT e.endpoint_id, e.active FROM notifier.endpoints AS e JOIN outcome USING (endpoint_id)
     ORDER BY e.endpoint_id FOR NO KEY UPDATE OF e
)
UPDATE notifier.endpoints AS e
   SET in_flight = greatest(e.in_flight - o.calls, 0),
       failures = CASE WHEN o.succeeded THEN 0 ELSE e.failures + o.failed END,
       failing_since = CASE WHEN o.succeeded THEN NULL ELSE coalesce(e.failing_since, o.at) END,
       last_triggered_at = greatest(e.last_triggered_at, o.at),
       active = e.active AND o.disable IS NULL,
       disabled_reason = CASE WHEN e.active THEN o.disable ELSE e.disabled_reason END,
       disabled_at = CASE WHEN e.active AND o.disable IS NOT NULL THEN o.at ELSE e.disabled_at END
  FROM outcome AS o JOIN locked USING (endpoint_id)
 WHERE e.endpoint_id = o.endpoint_id
RETURNING e.endpoint_id, e.tenant_id, e.number_id, e.disabled_reason AS reason, e.failing_since, e.disabled_at AS at,
          locked.active AND NOT e.active AS switched_off
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("calls", type_=ARRAY(SmallInteger)),
    bindparam("failed", type_=ARRAY(SmallInteger)),
    bindparam("succeeded", type_=ARRAY(Boolean)),
    bindparam("disable", type_=ARRAY(Text)),
    bindparam("at", type_=ARRAY(_MOMENT)),
)


_COUNT_PENDING = text("""
SELECT count(*) AS pending, min(due_at) AS oldest_due_at FROM (
    SELECT d.due_at FROM notifier.endpoints AS e CROSS JOIN LATERAL (
        SELECT due_at FROM notifier.deliveries
         WHERE state = 'PENDING' AND endpoint_id = e.endpoint_id ORDER BY due_at LIMIT :up_to) AS d
     WHERE e.active LIMIT :up_to) AS waiting
""")


async def plan(tx: Transaction, planned: Sequence[Planned]) -> None:
    """Owe these deliveries; what is owed already stays as it is."""
    if not planned:
        return
    ordered = sorted(planned, key=lambda item: (item.endpoint_id, *subject_of(item.ref), item.version))
    rows = [
        {
            "delivery_id": item.delivery_id,
            "endpoint_id": item.endpoint_id,
            "tenant_id": item.ref.tenant_id,
            "message_id": subject_of(item.ref)[0],
            "round": subject_of(item.ref)[1],
            "version": item.version,
            "event": item.event,
            "ref": item.ref.model_dump(mode="json"),
            "sealed_body": item.sealed_body,
            "changed_at": item.changed_at,
            "follows": item.follows,
            "grace": EARLIER_NEWS_GRACE,
        }
        for item in ordered
    ]
    await tx.execute(_PLAN, rows)


async def find_owed(tx: Transaction, endpoint_id: UUID, ref: Ref, *, version: int) -> UUID:
    """The delivery that an endpoint is owed, or was, for one version of a subject."""
    subject_id, round_ = subject_of(ref)
    query = select(deliveries.c.delivery_id).where(
        deliveries.c.endpoint_id == endpoint_id,
        deliveries.c.message_id == subject_id,
        deliveries.c.round == round_,
        deliveries.c.version == version,
    )
    found: UUID = (await tx.execute(query)).scalar_one()
    return found


async def settle(tx: Transaction, settlements: Sequence[Settlement]) -> set[UUID]:
    """Write the verdicts of attempts whose lease is still the current one; the deliveries that were settled."""
    ordered = sorted(settlements, key=lambda item: item.claimed.delivery_id)
    result = await tx.execute(
        _SETTLE,
        {
            "ids": [item.claimed.delivery_id for item in ordered],
            "tokens": [item.claimed.lease_token for item in ordered],
            "states": [item.verdict.state.value for item in ordered],
            "dues": [item.verdict.due_at for item in ordered],
            "statuses": [item.verdict.status for item in ordered],
            "problems": [item.verdict.problem for item in ordered],
            "finished": [item.ended_at for item in ordered],
        },
    )
    return set(result.scalars())


async def log_attempts(tx: Transaction, settlements: Sequence[Settlement]) -> None:
    """One row per attempt; an attempt that was given up as interrupted gets its true end."""
    rows = [
        {
            "delivery_id": item.claimed.delivery_id,
            "attempt": item.claimed.attempt,
            "endpoint_id": item.claimed.endpoint_id,
            "started_at": item.started_at,
            "duration_ms": item.duration_ms,
            "status": item.verdict.status,
            "problem": item.verdict.problem,
            "sealed_response": item.sealed_response,
        }
        for item in sorted(settlements, key=lambda item: (item.claimed.delivery_id, item.claimed.attempt))
    ]
    statement = insert(delivery_attempts)
    fresh = {name: statement.excluded[name] for name in ("started_at", "duration_ms", "status", "problem")}
    key = [delivery_attempts.c.delivery_id, delivery_attempts.c.attempt]
    await tx.execute(statement.on_conflict_do_update(index_elements=key, set_=fresh), rows)


async def record_outcomes(tx: Transaction, outcomes: Sequence[EndpointOutcome]) -> Sequence[SwitchedOff]:
    """Free the endpoints' slots and keep count of their failures; the endpoints that this switched off."""
    rows = await tx.execute(
        _RECORD_OUTCOMES,
        {
            "ids": [item.endpoint_id for item in outcomes],
            "calls": [item.calls for item in outcomes],
            "failed": [item.failed for item in outcomes],
            "succeeded": [item.succeeded for item in outcomes],
            "disable": [item.disable for item in outcomes],
            "at": [item.at for item in outcomes],
        },
    )
    found = [dict(row._mapping) for row in rows]
    return [SwitchedOff(**fields) for fields in found if fields.pop("switched_off")]


async def count_pending(tx: Transaction, *, up_to: int) -> Backlog:
    """What waits for active endpoints, counted no further than `up_to`; what others are owed is not looked at."""
    row = (await tx.execute(_COUNT_PENDING, {"up_to": up_to})).one()
    return Backlog(pending=row.pending, oldest_due_at=row.oldest_due_at)


async def forget_deliveries(tx: Transaction, *, before: UUID, limit: int) -> int:
    """Delete up to `limit` deliveries with an id (a time) below `before`, whatever became of them."""
    old = (
        select(deliveries.c.delivery_id)
        .where(deliveries.c.delivery_id < before, deliveries.c.state != text("'SENDING'"))
        .limit(limit)
    )
    return (await tx.execute(delete(deliveries).where(deliveries.c.delivery_id.in_(old)))).rowcount


async def forget_attempts(tx: Transaction, *, before: UUID, limit: int) -> int:
    """Delete up to `limit` attempts of deliveries with an id below `before`."""
    delivery_id, attempt = delivery_attempts.c.delivery_id, delivery_attempts.c.attempt
    old = select(delivery_id, attempt).where(delivery_id < before).limit(limit).subquery()
    condition = (delivery_id == old.c.delivery_id) & (attempt == old.c.attempt)
    return (await tx.execute(delete(delivery_attempts).where(condition))).rowcount
