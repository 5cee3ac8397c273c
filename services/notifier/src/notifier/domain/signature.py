"""How a receiver can tell that a webhook is ours: two signatures over the very bytes that are sent."""

import base64
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

SECRET_PREFIX = "whsec_"  # noqa: S105
SECRET_BYTES = 32
USER_AGENT = "pilot-status-webhooks/1"

OVERLAP = timedelta(hours=24)
"""How long a replaced secret signs along."""


def secret_text(material: bytes) -> str:
    """A secret as the customer sees it, once."""
    return SECRET_PREFIX + base64.b64encode(material).decode()


def pilot_signature(secret: str, body: bytes) -> str:
    """Hex HMAC-SHA256 of the raw body; the key is the secret's text as shown, `whsec_` included, in UTF-8."""
    return hmac.digest(secret.encode(), body, "sha256").hex()


def standard_signature(secret: str, *, webhook_id: str, timestamp: int, body: bytes) -> str:
    """Standard Webhooks 1.0.0, symmetric: the key is the base64 behind `whsec_`, decoded."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b"%b.%d.%b" % (webhook_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def headers_of(
    *, delivery_id: UUID, event: str, attempt: int, secrets: Sequence[str], body: bytes, now: datetime
) -> Mapping[str, str]:
    """Everything an attempt is sent with. The id stays the same over all attempts; number and timestamp are its own.

    `secrets` are the current one and, while it is being replaced, the previous one: the body is signed with both.
    """
    webhook_id, timestamp = str(delivery_id), int(now.timestamp())
    headers = {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "x-pilot-status-signature": pilot_signature(secrets[0], body),
        "x-pilot-status-delivery": webhook_id,
        "x-pilot-status-event": event,
        "x-pilot-status-attempt": str(attempt),
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            standard_signature(secret, webhook_id=webhook_id, timestamp=timestamp, body=body) for secret in secrets
        ),
    }
    for secret in secrets[1:]:
        headers["x-pilot-status-signature-previous"] = pilot_signature(secret, body)
    return headers
