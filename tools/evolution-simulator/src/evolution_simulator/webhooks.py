"""How the gateway tells its events: the real envelope, posted concurrently, retried from memory and at last dropped."""

import asyncio
import base64
import hashlib
import hmac
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolution_simulator import node_json
from evolution_simulator.instances import Instance, Webhook, iso_now
from evolution_simulator.posting import Poster
from evolution_simulator.settings import SimulatorSettings

_AXIOS_HEADERS = {
    "accept": "application/json, text/plain, */*",
    "content-type": "application/json",
    "user-agent": "axios/1.13.2",
}
_TOKEN_LIFETIME_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one receiver; body and headers are made once, before the first attempt."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class WebhookPoster:
    """Posts events without anyone waiting; `first attempt` futures exist for receipts that must come early."""

    def __init__(self, settings: SimulatorSettings) -> None:
        self._poster = Poster(
            connections_max=settings.webhook_connections_max, timeout_seconds=settings.webhook_timeout_seconds
        )
        self._settings = settings
        self._dice = random.Random(settings.seed)  # noqa: S311 - jitter, not a secret
        self._tasks: set[asyncio.Task[None]] = set()
        self.counters: Counter[str] = Counter()

    @property
    def pending(self) -> int:
        return len(self._tasks)

    def post(self, instance: Instance, event: str, data: Any) -> asyncio.Future[None]:
        """Start delivering an event; the future ends with the first attempt, whatever its result."""
        first_attempt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        webhook = instance.webhook
        if webhook is None or not webhook.wants(event):
            first_attempt.set_result(None)
            return first_attempt
        if len(self._tasks) >= self._settings.webhook_pending_max:
            self.counters["overflowed"] += 1
            first_attempt.set_result(None)
            return first_attempt
        delivery = make_delivery(webhook, envelope(instance, webhook, event, data, self._settings.public_url))
        task = asyncio.create_task(self._deliver(delivery, first_attempt))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return first_attempt

    def forget(self) -> None:
        """Retries live in memory: what ends the process ends them."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Stop for good."""
        self.forget()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._poster.close()

    async def _deliver(self, delivery: Delivery, first_attempt: asyncio.Future[None]) -> None:
        for attempt in range(1, self._settings.webhook_attempts_max + 1):
            if attempt > 1:
                await asyncio.sleep(retry_delay_seconds(attempt - 1, self._settings, self._dice))
            settled = await self._attempt(delivery)
            if not first_attempt.done():
                first_attempt.set_result(None)
            if settled:
                return
        self.counters["exhausted"] += 1

    async def _attempt(self, delivery: Delivery) -> bool:
        self.counters["attempts"] += 1
        try:
            status = await self._poster.post(delivery.url, delivery.headers, delivery.body)
        except (OSError, ValueError):
            return False
        if 200 <= status < 300:
            self.counters["delivered"] += 1
            return True
        if status in self._settings.webhook_non_retryable_statuses:
            self.counters["refused"] += 1
            return True
        return False


def envelope(instance: Instance, webhook: Webhook, event: str, data: Any, server_url: str) -> dict[str, Any]:
    return {
        "event": event,
        "instance": instance.name,
        "data": data,
        "destination": webhook.url,
        "date_time": iso_now(),
        "sender": instance.owner_jid,
        "server_url": server_url,
        "apikey": None,
    }


def make_delivery(webhook: Webhook, body: Mapping[str, Any]) -> Delivery:
    suffix = f"/{str(body['event']).replace('.', '-').replace('_', '-').lower()}" if webhook.by_events else ""
    own = dict(webhook.headers)
    secret = own.pop("jwt_key", None)
    if secret is not None:
        own["Authorization"] = f"Bearer {signed_token(secret, int(time.time()))}"
    return Delivery(url=webhook.url + suffix, headers={**_AXIOS_HEADERS, **own}, body=node_json.encode(body))


def signed_token(secret: str, issued_at: int) -> str:
    """The HS256 JWT which replaces the `jwt_key` header. It is not renewed for retries and does not bind the body."""
    header = {"alg": "HS256", "typ": "JWT"}
    lifetime = {"iat": issued_at, "exp": issued_at + _TOKEN_LIFETIME_SECONDS}
    claims = {**lifetime, "app": "evolution", "action": "webhook"}
    signing_input = b".".join(_base64url(node_json.encode(part)) for part in (header, claims))
    signature = hmac.new(secret.encode(), signing_input, hashlib.sha256).digest()
    return (signing_input + b"." + _base64url(signature)).decode()


def _base64url(value: bytes) -> bytes:
    return base64.urlsafe_b64encode(value).rstrip(b"=")


def retry_delay_seconds(failures: int, settings: SimulatorSettings, dice: random.Random) -> float:
    """Exponential from the initial delay, capped, then jittered both ways: 5, 10, 20 … 300 s by default."""
    doubled = settings.webhook_initial_delay_seconds * 2 ** (failures - 1)
    delay: float = min(doubled, settings.webhook_delay_seconds_max)
    return delay * (1 + settings.webhook_jitter_factor * dice.uniform(-1, 1))
