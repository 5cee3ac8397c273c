"""What a customer does with a webhook endpoint it has: look at it, change it, delete it, replace its secret."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.telemetry.logs import get_logger
from contracts.questions import (
    ChangeEndpoint,
    DeleteEndpoint,
    DeliveryLog,
    EndpointFound,
    FindEndpoint,
    ListDeliveryLog,
    Rejected,
    RotateSecret,
    SecretRotated,
)
from notifier.domain.endpoints import changed, judge_change, unknown
from notifier.domain.signature import OVERLAP, SECRET_BYTES, secret_text
from notifier.store import endpoints as store
from notifier.store import log

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageWebhook:
    """An endpoint outside the asker's tenant, or number, does not exist for it."""

    database: Database
    ring: KeyRing
    refusal_of: Callable[[str], Awaitable[str | None]]
    clock: Clock

    async def find(self, asked: FindEndpoint) -> EndpointFound | Rejected:
        """The endpoint."""
        async with self.database.transaction() as tx:
            endpoint = await store.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id
            )
        return EndpointFound(endpoint=endpoint) if endpoint else unknown()

    async def change(self, asked: ChangeEndpoint) -> EndpointFound | Rejected:
        """The endpoint as it is now; one that was switched off for its failures starts anew when switched on."""
        refusal = await self.refusal_of(asked.url) if asked.url is not None else None
        async with self.database.transaction() as tx:
            endpoint = await store.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id
            )
            if endpoint is None:
                return unknown()
            await store.serialize_registrations(tx, endpoint.number_id)
            existing = await store.endpoints_of(tx, tenant_id=asked.tenant_id, number_id=endpoint.number_id)
            current = next((other for other in existing if other.endpoint_id == asked.endpoint_id), None)
            if current is None:
                return unknown()
            rejected = judge_change(asked, current, existing, refusal=refusal)
            if rejected is not None:
                return rejected
            stored = await store.change_endpoint(
                tx, changed(asked, current, now=self.clock()), revive=bool(asked.active or asked.url)
            )
        logger.info("endpoint_changed", endpoint_id=asked.endpoint_id)
        return EndpointFound(endpoint=stored)

    async def delete(self, asked: DeleteEndpoint) -> EndpointFound | Rejected:
        """The endpoint as it was; from this commit on nothing is sent to it."""
        async with self.database.transaction() as tx:
            endpoint = await store.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id, lock=True
            )
            if endpoint is None:
                return unknown()
            await store.delete_endpoint(tx, endpoint.endpoint_id)
        logger.info("endpoint_deleted", endpoint_id=asked.endpoint_id)
        return EndpointFound(endpoint=endpoint)

    async def rotate(self, asked: RotateSecret) -> SecretRotated | Rejected:
        """A new secret; the old one signs along for a day."""
        secret = secret_text(secrets.token_bytes(SECRET_BYTES))
        sealed_secret = self.ring.seal(secret.encode(), aad=asked.endpoint_id.bytes)
        until = self.clock() + OVERLAP
        async with self.database.transaction() as tx:
            endpoint = await store.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id, lock=True
            )
            if endpoint is None:
                return unknown()
            endpoint = await store.replace_secret(
                tx, endpoint.endpoint_id, sealed_secret=sealed_secret, previous_until=until
            )
        logger.info("endpoint_secret_rotated", endpoint_id=asked.endpoint_id)
        return SecretRotated(endpoint=endpoint, sealed_secret=sealed_secret, previous_valid_until=until)

    async def log(self, asked: ListDeliveryLog) -> DeliveryLog | Rejected:
        """The newest attempts at the endpoint."""
        async with self.database.transaction() as tx:
            endpoint = await store.find_endpoint(
                tx, asked.endpoint_id, tenant_id=asked.tenant_id, number_id=asked.number_id
            )
            if endpoint is None:
                return unknown()
            attempts = await log.list_attempts(tx, endpoint.endpoint_id, event=asked.event, limit=asked.limit)
        return DeliveryLog(number_id=endpoint.number_id, attempts=tuple(attempts))
