"""Opening the next round of a message that failed."""

from typing import Any
from uuid import UUID

from sqlalchemy import Date, DateTime, bindparam, select, text

from api.accounts.tables import TENANTS
from api.messages.domain.progress import Transition
from api.messages.domain.rounds import Ended, Recount
from api.messages.store.folding import transition_of
from api.messages.store.rows import stored
from api.messages.tables import MESSAGES
from chassis.database import Transaction
from contracts.facts import MessageAccepted

OPEN_ROUND = text("""
UPDATE api.messages m SET
    status = 'QUEUED', round = :round, version = m.version + 1, external_id = NULL, error_code = NULL,
    dispatched_at = NULL, sent_at = NULL, delivered_at = NULL, read_at = NULL, failed_at = NULL, canceled_at = NULL,
    deliver_by = :deliver_by, deliver_until = :deliver_until,
    usage_day = :usage_day, usage_month = :usage_month, usage_returned = false
FROM (SELECT id, status AS previous FROM api.messages WHERE id = :id FOR UPDATE) AS known
WHERE m.id = known.id AND m.status = 'FAILED' AND m.round = :round - 1 AND m.sealed IS NOT NULL
RETURNING m.*, known.previous, CAST(:deliver_by AS timestamptz) AS changed_at
""").bindparams(
    bindparam("deliver_by", type_=DateTime(timezone=True)),
    bindparam("deliver_until", type_=DateTime(timezone=True)),
    bindparam("usage_day", type_=Date),
    bindparam("usage_month", type_=Date),
)


async def find_ended(tx: Transaction, message_id: UUID) -> Ended | None:
    """The message with what its next round needs, locked."""
    query = (
        select(MESSAGES, TENANTS.c.weight, TENANTS.c.timezone)
        .select_from(MESSAGES.join(TENANTS, TENANTS.c.id == MESSAGES.c.tenant_id))
        .where(MESSAGES.c.id == message_id)
        .with_for_update(of=MESSAGES)
    )
    row = (await tx.execute(query)).mappings().first()
    return _ended(row) if row else None


async def open_round(tx: Transaction, accepted: MessageAccepted, counted: Recount) -> Transition:
    """FAILED, as `find_ended` locked it, becomes QUEUED in the round of `accepted`, without a trace of the former."""
    parameters = {
        "id": accepted.ref.message_id,
        "round": accepted.ref.round,
        "deliver_by": accepted.deliver_by,
        "deliver_until": accepted.deliver_until,
        "usage_day": counted.day,
        "usage_month": counted.month,
    }
    return transition_of((await tx.execute(OPEN_ROUND, parameters)).mappings().one())


def _ended(row: Any) -> Ended:
    return Ended(
        message=stored(row),
        text_hash=row["text_hash"],
        urgent=row["urgent"],
        tenant_weight=row["weight"],
        timezone=row["timezone"],
        counted_by_day=row["usage_day"] is not None,
        counted_by_month=row["usage_month"] is not None,
    )
