"""Messages put straight into the api's table: many, old, or of a status that would take long to reach."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from .running import Account, RunningApi

_FAIL = """
UPDATE api.messages
   SET status = 'FAILED', failed_at = now(), error_code = $2, version = version + 1
 WHERE id = $1
"""

START = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
DISPATCHED = ("DISPATCHED", "SENT", "DELIVERED", "READ")

_INSERT = """
INSERT INTO api.messages (id, tenant_id, project_id, key_id, number_id, instance, environment, category,
                          correlation_id, status, origin, template_name, labels, deliver_by, deliver_until, urgent,
                          recipient_hash, text_hash, accepted_at, dispatched_at, failed_at, canceled_at, error_code)
SELECT gen_random_uuid(), $1, $2, $1, $3, 'x', $4, $5, gen_random_uuid()::text, $6, 'x', $7, $8, at, at, false,
       $9, '', at, CASE WHEN $10 THEN at END, CASE WHEN $6 = 'FAILED' THEN at END,
       CASE WHEN $6 = 'CANCELED' THEN at END, CASE WHEN $6 = 'FAILED' THEN 'GATEWAY_REFUSED' END
  FROM (SELECT $11::timestamptz + number * interval '1 second' AS at FROM generate_series(1, $12) AS number) AS times
RETURNING id
"""


async def store(
    api: RunningApi,
    account: Account,
    count: int = 1,
    *,
    status: str = "READ",
    environment: str = "TEST",
    category: str = "UTILITY",
    template: str | None = None,
    labels: list[str] | None = None,
    recipient_hash: str = "",
    number_id: UUID | None = None,
    start: datetime = START,
) -> list[str]:
    """`count` messages of one kind, a second apart; their ids, oldest first."""
    arguments: list[Any] = [
        UUID(account.tenant_id),
        UUID(account.project_id),
        number_id or uuid4(),
        environment,
        category,
        status,
        template,
        labels,
        recipient_hash,
        status in DISPATCHED,
        start,
        count,
    ]
    return [str(row["id"]) for row in await api.rows(_INSERT, *arguments)]


async def fail(api: RunningApi, message_id: str, code: str = "GATEWAY_REFUSED") -> None:
    """As if the news of its failure had come."""
    await api.rows(_FAIL, UUID(message_id), code)
