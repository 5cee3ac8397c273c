"""Gives a customer a new webhook endpoint with a signing secret of its own."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.telemetry.logs import get_logger
from contracts.ids import uuid7
from contracts.questions import EndpointRegistered, RegisterEndpoint, Rejected
from notifier.domain.endpoints import judge_registration, new_endpoint
from notifier.domain.signature import SECRET_BYTES, secret_text
from notifier.store import endpoints as store

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterWebhook:
    """Registrations of one number wait for each other, so that its bounds hold. The secret rests sealed only."""

    database: Database
    ring: KeyRing
    refusal_of: Callable[[str], Awaitable[str | None]]
    clock: Clock
    new_id: Callable[[], UUID] = uuid7

    async def __call__(self, asked: RegisterEndpoint) -> EndpointRegistered | Rejected:
        """The endpoint with its sealed secret, or why not."""
        refusal = await self.refusal_of(asked.url)
        endpoint = new_endpoint(asked, endpoint_id=self.new_id(), now=self.clock())
        secret = secret_text(secrets.token_bytes(SECRET_BYTES))
        sealed_secret = self.ring.seal(secret.encode(), aad=endpoint.endpoint_id.bytes)
        async with self.database.transaction() as tx:
            await store.serialize_registrations(tx, asked.number_id)
            existing = await store.endpoints_of(tx, tenant_id=asked.tenant_id, number_id=asked.number_id)
            rejected = judge_registration(asked, existing, refusal=refusal)
            if rejected is not None:
                return rejected
            await store.add_endpoint(tx, endpoint, sealed_secret=sealed_secret)
        logger.info("endpoint_registered", endpoint_id=endpoint.endpoint_id)
        return EndpointRegistered(endpoint=endpoint, sealed_secret=sealed_secret)
