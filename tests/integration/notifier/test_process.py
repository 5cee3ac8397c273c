"""The notifier as a process of its own: facts come in over the broker, signed webhooks and facts go out."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aio_pika
import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from chassis.topology import declare
from contracts.facts import ContentForgotten, MessageStatusChanged, WebhookDelivered
from contracts.ids import uuid7
from contracts.topology import FACTS, NOTIFIER_MESSAGES
from notifier.app import TOPOLOGY

SEAL_KEYS = "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@dataclass(slots=True, kw_only=True)
class Process:
    """One running `python -m notifier`."""

    environment: dict[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.environment['HTTP_PORT']}"

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "notifier", env=self.environment, stdout=log, stderr=log
            )

    async def end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        async with asyncio.timeout(30):
            return await self.process.wait()

    async def is_ready(self) -> bool:
        try:
            async with httpx.AsyncClient(base_url=self.base_url, trust_env=False) as client:
                return (await client.get("/ready")).status_code == 200
        except httpx.HTTPError:
            return False

    async def metric(self, name: str) -> float:
        async with httpx.AsyncClient(base_url=self.base_url, trust_env=False) as client:
            lines = (await client.get("/metrics")).text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def process(schema: Any, vhost_url: str, tmp_path: Path, wait_until: Any) -> AsyncIterator[Process]:
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": schema.url,
        "BROKER_URL": vhost_url,
        "HTTP_PORT": str(free_port()),
        "SEAL_KEYS": SEAL_KEYS,
        "ALLOW_PRIVATE_ENDPOINTS": "true",
        "WEBHOOK_RETRY_SECONDS": "0.05,0.05,0.05",
        "WEBHOOK_LEASE_SECONDS": "1",
        "WEBHOOK_TIMEOUT_SECONDS": "0.8",
    }
    running = Process(environment=environment, log=tmp_path / "notifier.log")
    await declare(vhost_url, TOPOLOGY)
    await running.start()
    await wait_until(running.is_ready, "ready")
    yield running
    if running.process is not None and running.process.returncode is None:
        await running.end(signal.SIGKILL)


@pytest.fixture
async def say(vhost_url: str) -> AsyncIterator[Callable[[MessageStatusChanged], Awaitable[None]]]:
    """Publishes a fact as an outbox relay does."""
    connection = await aio_pika.connect(vhost_url)
    channel = await connection.channel()
    exchange = await channel.get_exchange(FACTS)

    async def publish(fact: MessageStatusChanged) -> None:
        message = aio_pika.Message(
            fact.body(), message_id=str(uuid7()), type=fact.TYPE, timestamp=fact.changed_at, delivery_mode=2
        )
        await exchange.publish(message, fact.routing_key(), mandatory=True)

    yield publish
    await connection.close()


async def test_from_fact_to_signed_webhook_and_back(
    build: Any, process: Process, say: Any, customer: Any, vhost_url: str, wait_until: Any
) -> None:
    rig = await build()
    customer.replies["/hook"] = [customer.reply(status=500, body=b"SegredoTotal"), customer.reply()]
    _, secret = await rig.endpoint(customer.url())
    connection = await aio_pika.connect(vhost_url)
    channel = await connection.channel()
    tap = await channel.declare_queue(exclusive=True)
    await tap.bind(FACTS, "webhook.*")
    facts = [rig.fact(text="SegredoTotal") for _ in range(20)]
    for fact in facts:
        await say(fact)
        await say(fact)
    await wait_until(lambda: delivered(rig, 20), "all delivered")
    ids = {request.headers["webhook-id"] for request in customer.received}
    assert (len(customer.received), len(ids)) == (21, 20)
    for request in customer.received:
        Webhook(secret).verify(request.body, request.headers)
    said = [await tap.get(timeout=10, no_ack=True) for _ in range(20)]
    told = {WebhookDelivered.model_validate_json(message.body).ref.message_id for message in said}
    assert told == {fact.ref.message_id for fact in facts}
    await connection.close()
    assert await process.metric("pilot_notifier_attempts_total{") == 21
    assert await process.metric("pilot_notifier_delivery_seconds_count") == 20
    assert await process.end(signal.SIGTERM) == 0
    log = process.log.read_text()
    assert "delivery_attempted" in log
    for planted in ("5511912345678", "SegredoTotal", secret, customer.url(), "/hook"):
        assert planted not in log
        assert planted.encode() not in b"".join(message.body for message in said)


async def test_killed_again_and_again_loses_nothing(
    build: Any, process: Process, say: Any, customer: Any, wait_until: Any
) -> None:
    rig = await build()
    customer.replies["/hook"] = [customer.reply(hang=True)] * 3 + [customer.reply()]
    await rig.endpoint(customer.url())
    facts = [rig.fact() for _ in range(40)]
    for index, fact in enumerate(facts):
        await say(fact)
        if index % 10 == 9:
            await process.end(signal.SIGKILL)
            await process.start()
    await wait_until(lambda: delivered(rig, 40), "all delivered")
    received: set[str] = {request.headers["webhook-id"] for request in customer.received}
    assert len(received) == 40, "every repeat carries the id of the first"
    rows = await rig.rows("SELECT in_flight FROM notifier.endpoints")
    assert [row.in_flight for row in rows] == [0]
    await wait_until(process.is_ready, "ready")
    assert await process.end(signal.SIGTERM) == 0


async def test_starts_without_its_broker_and_says_so(build: Any, process: Process, wait_until: Any) -> None:
    await process.end(signal.SIGTERM)
    process.environment["BROKER_URL"] = f"amqp://guest:guest@127.0.0.1:{free_port()}/"
    await process.start()

    async def explains() -> bool:
        try:
            async with httpx.AsyncClient(base_url=process.base_url, trust_env=False) as client:
                answer = await client.get("/ready")
                return answer.status_code == 503 and "broker" in answer.text
        except httpx.HTTPError:
            return False

    await wait_until(explains, "not ready because of the broker")
    assert await process.end(signal.SIGTERM) == 0


async def delivered(rig: Any, count: int) -> bool:
    return list(await rig.states()) == ["DELIVERED"] * count


async def test_the_queue_it_hears_is_the_one_the_api_speaks_to() -> None:
    assert [(binding.exchange, binding.key) for binding in NOTIFIER_MESSAGES.bindings] == [
        (FACTS, statement.TYPE.removesuffix(".v1")) for statement in (MessageStatusChanged, ContentForgotten)
    ]
