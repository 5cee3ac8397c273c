"""Statements that take the content out of messages; the messages themselves stay."""

from uuid import UUID

from sqlalchemy import text

from chassis.database import Transaction

_OF_NUMBER = text("""
    UPDATE api.messages SET sealed = NULL
     WHERE id IN (SELECT id FROM api.messages WHERE number_id = :number_id AND sealed IS NOT NULL LIMIT :limit)
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
""")  # noqa: S608 - no input in it

_NEVER_LEFT = text(f"""
    UPDATE api.messages SET sealed = NULL WHERE id IN (
        SELECT message.id FROM ({_LIMITED}) AS number CROSS JOIN LATERAL (
            SELECT id FROM api.messages
             WHERE project_id IN (SELECT id FROM api.projects WHERE tenant_id = number.tenant_id)
               AND number_id = number.id AND accepted_at < number.before AND sealed IS NOT NULL
               AND dispatched_at IS NULL AND (failed_at IS NOT NULL OR canceled_at IS NOT NULL)
             LIMIT :limit) AS message LIMIT :limit)
""")  # noqa: S608 - no input in it


async def forget_number(tx: Transaction, number_id: UUID, *, limit: int) -> int:
    """Of how many messages of a number the content was taken out, at most `limit`."""
    return (await tx.execute(_OF_NUMBER, {"number_id": number_id, "limit": limit})).rowcount


async def forget_expired(tx: Transaction, *, limit: int) -> int:
    """The same for messages older than their number keeps content, those that left and those that never will."""
    left = (await tx.execute(_LEFT, {"limit": limit})).rowcount
    return left + (await tx.execute(_NEVER_LEFT, {"limit": limit})).rowcount
