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
from notifier.domain.delivery import Claimed
from notifier.domain.problems import Problem
from notifier.domain.subjects import NumberRef

# The recursion is a loose index scan: one probe per endpoint that is owed something, however much it is owed.
# `in_flight` is read from the locked endpoint, so no two replicas can go beyond its bound together.
# A delivery waits until those of its subject's earlier versions are over: nothing overtakes, whoever claims. What waits
# for a retry moves behind it, so that the head of an endpoint's queue holds what can be sent, however much waits.
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
), looked AS (
    SELECT o.endpoint_id, o.tenant_id, o.tenant_calls, o.slots, d.*
      FROM open AS o CROSS JOIN LATERAL (
        SELECT p.delivery_id, p.due_at, first.behind, first.behind IS NOT NULL AS waits
          FROM notifier.deliveries AS p CROSS JOIN LATERAL (
            SELECT max(CASE WHEN earlier.state = 'PENDING' THEN earlier.due_at + interval '1 microsecond'
                            ELSE '-infinity' END) AS behind
              FROM notifier.deliveries AS earlier
             WHERE earlier.endpoint_id = p.endpoint_id AND earlier.message_id = p.message_id
               AND earlier.version < p.version AND earlier.state IN ('PENDING', 'SENDING')) AS first
         WHERE p.state = 'PENDING' AND p.endpoint_id = o.endpoint_id AND p.due_at <= (SELECT now FROM moment)
         ORDER BY p.due_at LIMIT greatest(o.slots, 0) + :looked_beyond FOR UPDATE OF p SKIP LOCKED) AS d
), moved AS (
    UPDATE notifier.deliveries AS d SET due_at = looked.behind
      FROM looked WHERE d.delivery_id = looked.delivery_id AND looked.behind > looked.due_at
), free AS (
    SELECT looked.*, row_number() OVER (PARTITION BY endpoint_id ORDER BY due_at, delivery_id) AS turn
      FROM looked WHERE NOT waits
), due AS (
    SELECT endpoint_id, tenant_id, tenant_calls, delivery_id, due_at, turn FROM free WHERE turn <= slots
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
              d.sealed_body, d.attempts_before
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


LOOKED_BEYOND = 50
"""How many rows of an endpoint a claim looks at beyond its free slots, for some of them wait for earlier ones."""


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
            "looked_beyond": LOOKED_BEYOND,
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
