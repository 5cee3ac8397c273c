"""Whatever a queue gives up on is filed once, sealed, with why and where it died."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel

from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.redelivery import Redelivery
from chassis.topology import Topology
from contracts.registry import decode
from contracts.topology import (
    COMMANDS,
    DEAD,
    DEAD_LETTERS,
    DISPATCHER_COMMANDS,
    EXCHANGES,
    FACTS,
    QUEUES,
    RECONCILER_MESSAGES,
)
from reconciler.subscribers import hear_dead_letters, hear_messages

from .conftest import KEY_RING, Service, accepted, reference

WAIT_SECONDS = 30.0
TOPOLOGY = Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS, delivery_limit=2)
PHONE = "5547988776655"


@pytest.fixture
async def broker(service: Service, broker_url: str) -> AsyncIterator[Broker]:
    """The reconciler's consuming side, beside a dispatcher that fails at every command."""
    quick = Redelivery(pause_first_seconds=0.01, pause_max_seconds=0.02)
    hearing = Broker(broker_url, service="reconciler", topology=TOPOLOGY, decode=decode, redelivery=quick)
    hear_messages(hearing, service.entries)
    hear_dead_letters(hearing, service.letters, clock=lambda: datetime.now(UTC))

    async def fail(_: Heard) -> None:
        raise ValueError("a fault in the code")

    hearing.hear(DISPATCHER_COMMANDS, fail)
    await hearing.start()
    await eventually(lambda: _true(hearing.problem() is None))
    yield hearing
    await hearing.stop()


@pytest.fixture
async def channel(broker: Broker, broker_url: str) -> AsyncIterator[AbstractChannel]:
    """To publish with; depends on the broker so that the queues exist."""
    connection = await aio_pika.connect(broker_url)
    async with connection:
        yield await connection.channel()


async def _true(value: bool) -> bool:
    return value


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll until true; fails at the deadline."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await condition():  # noqa: ASYNC110 - the database has no event to wait for
            await asyncio.sleep(0.02)


async def filed(service: Service, count: int) -> list[Any]:
    """The dead letters, once there are `count`."""

    async def enough() -> bool:
        return len(await service.rows("SELECT 1 FROM reconciler.dead_letters")) >= count

    await eventually(enough)
    return list(await service.rows("SELECT * FROM reconciler.dead_letters ORDER BY filed_at"))


async def publish(
    channel: AbstractChannel,
    body: bytes,
    *,
    exchange: str = FACTS,
    routing_key: str = "message.dispatched",
    message_id: str | None = None,
    type_name: str | None = "message.dispatched.v1",
) -> None:
    """Anything at all, as a foreign or faulty speaker might."""
    message = aio_pika.Message(
        body,
        message_id=message_id,
        type=type_name,
        timestamp=datetime.now(UTC),
        headers={"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "secret": PHONE},
    )
    await (await channel.get_exchange(exchange)).publish(message, routing_key)


@pytest.mark.parametrize(
    ("body", "type_name", "message_id"),
    [
        (b"not json at all", "message.dispatched.v1", str(uuid4())),
        (b"{}", "message.dispatched.v1", str(uuid4())),
        (b"{}", "unheard.of.v9", str(uuid4())),
        (b"{}", None, None),
        (b"\x00\xff\xfe", "message.dispatched.v1", "not-an-id"),
        (b"", "nul\x00byte", None),
    ],
    ids=["no-json", "missing-fields", "unknown-type", "no-envelope", "binary", "empty"],
)
async def test_an_unreadable_body_is_filed_as_it_was(
    service: Service, channel: AbstractChannel, body: bytes, type_name: str | None, message_id: str | None
) -> None:
    await publish(channel, body, type_name=type_name, message_id=message_id)
    (letter,) = await filed(service, 1)
    assert letter.origin_queue == RECONCILER_MESSAGES.name
    assert (letter.reason, letter.count, letter.routing_key) == ("rejected", 1, "message.dispatched")
    assert letter.size_bytes == len(body)
    assert KEY_RING.open(letter.sealed, aad=letter.id.bytes) == body
    assert "secret" not in letter.headers
    assert letter.headers["traceparent"].startswith("00-")
    assert datetime.now(UTC) - letter.first_died_at < timedelta(minutes=5)


async def test_a_handler_that_always_fails_ends_in_a_letter_with_its_limit_as_the_reason(
    service: Service, channel: AbstractChannel
) -> None:
    ref, message_id = reference(), uuid4()
    body = json.dumps({"ref": ref.model_dump(mode="json"), "accepted": accepted(ref).model_dump(mode="json")}).encode()
    await publish(
        channel,
        body,
        exchange=COMMANDS,
        routing_key="dispatcher",
        message_id=str(message_id),
        type_name="message.requeue.v1",
    )
    (letter,) = await filed(service, 1)
    assert letter.origin_queue == DISPATCHER_COMMANDS.name
    assert letter.reason == "delivery_limit"
    assert letter.statement_id == message_id
    assert (letter.type, letter.routing_key) == ("message.requeue.v1", "dispatcher")
    assert KEY_RING.open(letter.sealed, aad=letter.id.bytes) == body


async def test_no_body_rests_in_clear(service: Service, channel: AbstractChannel) -> None:
    await publish(channel, PHONE.encode(), routing_key="message.deferred", message_id=str(uuid4()))
    rows = await filed(service, 1)
    assert not any(PHONE in str(value) for row in rows for value in tuple(row))


async def test_a_letter_that_is_delivered_again_is_filed_once(service: Service, channel: AbstractChannel) -> None:
    identity: set[UUID] = set()
    for _ in range(3):
        message = aio_pika.Message(
            b"the same death",
            message_id="7f0c7b0e-0000-7000-8000-000000000001",
            headers={
                "x-death": [{"queue": "q", "reason": "rejected", "count": 1, "time": datetime(2025, 6, 2, tzinfo=UTC)}]
            },
        )
        await (await channel.get_exchange(DEAD)).publish(message, "q")
    await (await channel.get_exchange(DEAD)).publish(aio_pika.Message(b"another"), "elsewhere")

    async def both_are_there() -> bool:
        rows = await service.rows("SELECT id, origin_queue FROM reconciler.dead_letters")
        identity.update(row.id for row in rows)
        return len(rows) >= 2

    await eventually(both_are_there)
    rows = await service.rows("SELECT origin_queue, reason FROM reconciler.dead_letters ORDER BY origin_queue")
    assert [tuple(row) for row in rows] == [("q", "rejected"), ("unknown", "unknown")]
    assert len(identity) == 2


async def test_facts_from_the_broker_reach_the_ledger(service: Service, channel: AbstractChannel) -> None:
    ref = reference()
    fact = accepted(ref)
    await publish(
        channel,
        fact.body(),
        routing_key=fact.routing_key(),
        message_id=str(uuid4()),
        type_name=fact.TYPE,
    )

    async def is_open() -> bool:
        return len(await service.rows("SELECT 1 FROM reconciler.ledger WHERE accepted IS NOT NULL")) == 1

    await eventually(is_open)
    assert (await service.row()).message_id == ref.message_id
