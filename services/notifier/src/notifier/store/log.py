"""Statements about the attempts at customers' endpoints, as customers see them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import bindparam, delete, select, text

from chassis.database import Transaction
from contracts.questions import LoggedAttempt
from notifier.domain.problems import hint_of
from notifier.domain.replay import ERASED
from notifier.tables import deliveries, delivery_attempts

_ERASE = text("""
WITH gone AS (
    SELECT d.delivery_id FROM notifier.numbers AS n
      JOIN notifier.endpoints AS e ON e.number_id = n.number_id
      JOIN notifier.deliveries AS d ON d.endpoint_id = e.endpoint_id
     WHERE n.purged_at IS NOT NULL AND d.state IN ('DELIVERED', 'EXHAUSTED') AND d.sealed_body <> :erased
     LIMIT :limit FOR NO KEY UPDATE OF d SKIP LOCKED
), answers AS (
    UPDATE notifier.delivery_attempts AS a SET sealed_response = NULL FROM gone WHERE a.delivery_id = gone.delivery_id
)
UPDATE notifier.deliveries AS d SET sealed_body = :erased FROM gone WHERE d.delivery_id = gone.delivery_id
""").bindparams(bindparam("erased", ERASED))


async def list_attempts(
    tx: Transaction, endpoint_id: UUID, *, event: str | None, limit: int
) -> Sequence[LoggedAttempt]:
    """Newest first; what was sent and what came back stay sealed."""
    attempts = delivery_attempts.c
    query = (
        select(*attempts, deliveries.c.event, deliveries.c.sealed_body)
        .select_from(delivery_attempts.join(deliveries, deliveries.c.delivery_id == attempts.delivery_id))
        .where(attempts.endpoint_id == endpoint_id)
        .order_by(attempts.started_at.desc(), attempts.delivery_id.desc(), attempts.attempt.desc())
        .limit(limit)
    )
    if event is not None:
        query = query.where(deliveries.c.event == event)
    return [
        LoggedAttempt(
            delivery_id=row.delivery_id,
            attempt=row.attempt,
            event=row.event,
            succeeded=row.problem is None,
            status=row.status,
            problem=row.problem,
            hint=hint_of(row.problem),
            sealed_payload=row.sealed_body,
            sealed_response=row.sealed_response,
            duration_ms=row.duration_ms,
            started_at=row.started_at,
        )
        for row in await tx.execute(query)
    ]


async def forget_deliveries_of(tx: Transaction, endpoint_id: UUID, *, limit: int) -> int:
    """Delete up to `limit` deliveries of an endpoint that are not on their way."""
    old = (
        select(deliveries.c.delivery_id)
        .where(deliveries.c.endpoint_id == endpoint_id, deliveries.c.state != "SENDING")
        .limit(limit)
    )
    return (await tx.execute(delete(deliveries).where(deliveries.c.delivery_id.in_(old)))).rowcount


async def forget_attempts_of(tx: Transaction, endpoint_id: UUID, *, limit: int) -> int:
    """Delete up to `limit` attempts at an endpoint."""
    delivery_id, attempt = delivery_attempts.c.delivery_id, delivery_attempts.c.attempt
    old = select(delivery_id, attempt).where(delivery_attempts.c.endpoint_id == endpoint_id).limit(limit).subquery()
    condition = (delivery_id == old.c.delivery_id) & (attempt == old.c.attempt)
    return (await tx.execute(delete(delivery_attempts).where(condition))).rowcount


async def erase_purged(tx: Transaction, *, limit: int) -> int:
    """Forget what was sent, and answered, about up to `limit` deliveries that are over and whose number was purged."""
    return (await tx.execute(_ERASE, {"limit": limit})).rowcount
