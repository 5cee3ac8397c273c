"""The statement that decides which deliveries are attempted now, and the one that takes back what was abandoned."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Interval, Row, bindparam, text
from sqlalchemy.types import Uuid

from chassis.database import Transaction
from contracts.values import MessageRef
from notifier.domain.delivery import Claimed, Problem
from notifier.domain.subjects import NumberRef

# The recursion is a loose index scan: one probe per endpoint that is owed something, however much it is owed.
# `in_flight` is read from the locked endpoint, so no two replicas can go beyond its bound together.
# An event waits for the first attempt of its subject's earlier ones: news comes in order where nothing fails.
_CLAIM = text("""
WITH RECURSIVE moment AS (
    SELECT coalesce(:now, clock_timestamp()) AS now
), waiting AS (
    (SELECT endpoint_id, due_at FROM notifier.deliveries
      WHERE state = 'PENDING' ORDER BY endpoint_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.due_at
      FROM waiting CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM notifier.deliveries
         WHERE state = 'PENDING' AND endpoint_id > waiting.endpoint_id ORDER BY endpoint_id, due_at LIMIT 1) AS next
), busy AS (
    SELECT tenant_id, count(*) AS calls FROM notifier.deliveries WHERE state = 'SENDING' GROUP BY tenant_id
), open AS (
    SELECT e.endpoint_id, e.tenant_id, e.url, e.sealed_secret, e.failures, e.failing_since,
           CASE WHEN e.previous_secret_until > (SELECT now FROM moment) THEN e.previous_sealed_secret END
               AS previous_sealed_secret,
           coalesce(b.calls, 0) AS tenant_calls,
           CASE WHEN e.failures >= :failing_after THEN 1 ELSE :per_endpoint END - e.in_flight AS slots
      FROM waiting AS w
      JOIN notifier.endpoints AS e USING (endpoint_id)
      LEFT JOIN busy AS b ON b.tenant_id = e.tenant_id
     WHERE w.due_at <= (SELECT now FROM moment) AND e.active AND coalesce(b.calls, 0) < :per_tenant
       AND e.in_flight < CASE WHEN e.failures >= :failing_after THEN 1 ELSE :per_endpoint END
     ORDER BY w.due_at LIMIT :slots
       FOR NO KEY UPDATE OF e SKIP LOCKED
), due AS (
    SELECT o.endpoint_id, o.tenant_id, o.tenant_calls, d.delivery_id, d.due_at,
           row_number() OVER (PARTITION BY o.endpoint_id ORDER BY d.due_at, d.delivery_id) AS turn
      FROM open AS o CROSS JOIN LATERAL (
        SELECT delivery_id, due_at FROM notifier.deliveries AS p
         WHERE state = 'PENDING' AND endpoint_id = o.endpoint_id AND due_at <= (SELECT now FROM moment)
           AND NOT EXISTS (
               SELECT FROM notifier.deliveries AS earlier
                WHERE earlier.endpoint_id = p.endpoint_id AND earlier.message_id = p.message_id
                  AND earlier.round = p.round AND earlier.version < p.version
                  AND (earlier.state, earlier.attempts) IN (('PENDING', 0), ('SENDING', 1)))
         ORDER BY due_at LIMIT greatest(o.slots, 0) FOR UPDATE SKIP LOCKED) AS d
), ranked AS (
    SELECT due.*, tenant_calls + row_number() OVER (PARTITION BY tenant_id ORDER BY turn, due_at) AS tenant_turn
      FROM due
), chosen AS (
    SELECT delivery_id FROM ranked WHERE tenant_turn <= :per_tenant ORDER BY turn, due_at LIMIT :slots
), claimed AS (
    UPDATE notifier.deliveries AS d
       SET state = 'SENDING', attempts = d.attempts + 1, lease_token = :token,
           lease_until = (SELECT now FROM moment) + :lease
      FROM chosen WHERE d.delivery_id = chosen.delivery_id
    RETURNING d.delivery_id, d.endpoint_id, d.ref, d.event, d.changed_at, d.attempts, d.lease_token, d.lease_until,
              d.sealed_body
), counted AS (
    SELECT endpoint_id, count(*) AS calls FROM claimed GROUP BY endpoint_id
), occupied AS (
    UPDATE notifier.endpoints AS e SET in_flight = e.in_flight + counted.calls
      FROM counted WHERE e.endpoint_id = counted.endpoint_id
)
SELECT claimed.*, open.url, open.sealed_secret, open.previous_sealed_secret, open.failures, open.failing_since
  FROM claimed JOIN open USING (endpoint_id)
""").bindparams(
    bindparam("now", type_=DateTime(timezone=True)),
    bindparam("lease", type_=Interval),
    bindparam("token", type_=Uuid),
)

_TAKE_BACK = text("""
WITH abandoned AS (
    SELECT delivery_id, lease_until FROM notifier.deliveries
     WHERE state = 'SENDING' AND lease_until < coalesce(:now, clock_timestamp())
     ORDER BY lease_until LIMIT :limit FOR UPDATE SKIP LOCKED
), returned AS (
    UPDATE notifier.deliveries AS d
       SET state = 'PENDING', due_at = abandoned.lease_until, lease_token = NULL, lease_until = NULL,
           last_status = NULL, last_problem = :problem
      FROM abandoned WHERE d.delivery_id = abandoned.delivery_id
    RETURNING d.delivery_id, d.endpoint_id, d.attempts, abandoned.lease_until
), logged AS (
    INSERT INTO notifier.delivery_attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, problem)
    SELECT delivery_id, attempts, endpoint_id, lease_until, 0, :problem FROM returned
    ON CONFLICT DO NOTHING
), counted AS (
    SELECT endpoint_id, count(*) AS calls FROM returned GROUP BY endpoint_id
), locked AS (
    SELECT e.endpoint_id, counted.calls FROM notifier.endpoints AS e JOIN counted USING (endpoint_id)
     ORDER BY e.endpoint_id FOR NO KEY UPDATE OF e
), freed AS (
    UPDATE notifier.endpoints AS e SET in_flight = greatest(e.in_flight - locked.calls, 0)
      FROM locked WHERE e.endpoint_id = locked.endpoint_id
)
SELECT count(*) FROM returned
""").bindparams(bindparam("now", type_=DateTime(timezone=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may be under way. Endpoint and tenant bounds hold for all replicas together."""

    per_endpoint: int
    per_tenant: int
    failing_after: int
    lease: timedelta


async def claim(tx: Transaction, *, slots: int, bounds: Bounds, token: UUID, now: datetime | None) -> Sequence[Claimed]:
    """Up to `slots` due deliveries, spread over the endpoints that are owed something; they are SENDING now."""
    rows = await tx.execute(
        _CLAIM,
        {
            "now": now,
            "slots": slots,
            "token": token,
            "lease": bounds.lease,
            "per_endpoint": bounds.per_endpoint,
            "per_tenant": bounds.per_tenant,
            "failing_after": bounds.failing_after,
        },
    )
    return [_claimed(row) for row in rows]


async def take_back(tx: Transaction, *, limit: int, now: datetime | None) -> int:
    """Deliveries whose process ended or stalled are due again; how many."""
    result = await tx.execute(_TAKE_BACK, {"now": now, "limit": limit, "problem": Problem.INTERRUPTED.value})
    return int(result.scalar_one())


def _claimed(row: Row[Any]) -> Claimed:
    fields = dict(row._mapping)
    stored = fields.pop("ref")
    kind = MessageRef if "message_id" in stored else NumberRef
    return Claimed(ref=kind.model_validate(stored), attempt=fields.pop("attempts"), **fields)
