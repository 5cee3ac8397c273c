"""Statements that take the content out of messages; the messages themselves stay."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text

from chassis.database import Transaction

_OF_NUMBER = text("""
    UPDATE api.messages SET sealed = NULL
     WHERE id IN (SELECT id FROM api.messages WHERE number_id = :number_id AND sealed IS NOT NULL LIMIT :limit)
    RETURNING id, number_id
""")

_LIMITED = """
    SELECT id, tenant_id,
           now() - CASE pii_mode WHEN 'RELAY_ONLY' THEN interval '1 hour'
                                 ELSE make_interval(days => pii_retention_days) END AS before
      FROM api.numbers WHERE pii_mode <> 'STORE_INDEFINITE'
"""
"""Numbers whose content is not kept for ever. One that only relays keeps it while receipts are still likely."""

_LEFT = text(f"""
    UPDATE api.messages SET sealed = NULL WHERE id IN (
        SELECT message.id FROM ({_LIMITED}) AS number CROSS JOIN LATERAL (
            SELECT id FROM api.messages
             WHERE number_id = number.id AND dispatched_at < number.before AND sealed IS NOT NULL
             LIMIT :limit) AS message LIMIT :limit)
    RETURNING id, number_id
""")  # noqa: S608 - no input in it

_NEVER_LEFT = text(f"""
    UPDATE api.messages SET sealed = NULL WHERE id IN (
        SELECT message.id FROM ({_LIMITED}) AS number CROSS JOIN LATERAL (
            SELECT id FROM api.messages
             WHERE project_id IN (SELECT id FROM api.projects WHERE tenant_id = number.tenant_id)
               AND number_id = number.id AND accepted_at < number.before AND sealed IS NOT NULL
               AND dispatched_at IS NULL AND (failed_at IS NOT NULL OR canceled_at IS NOT NULL)
             LIMIT :limit) AS message LIMIT :limit)
    RETURNING id, number_id
""")  # noqa: S608 - no input in it


Forgotten = tuple[UUID, UUID]
"""A message of which the content was taken out, and its number."""


async def forget_number(tx: Transaction, number_id: UUID, *, limit: int) -> Sequence[Forgotten]:
    """Take the content out of messages of a number, at most `limit`; which these were."""
    rows = await tx.execute(_OF_NUMBER, {"number_id": number_id, "limit": limit})
    return [(row.id, row.number_id) for row in rows]


async def forget_left(tx: Transaction, *, limit: int) -> Sequence[Forgotten]:
    """The same for messages that left longer ago than their number keeps content."""
    return [(row.id, row.number_id) for row in await tx.execute(_LEFT, {"limit": limit})]


async def forget_never_left(tx: Transaction, *, limit: int) -> Sequence[Forgotten]:
    """The same for messages that were accepted that long ago and will never leave."""
    return [(row.id, row.number_id) for row in await tx.execute(_NEVER_LEFT, {"limit": limit})]
