"""The gateway's own RabbitMQ exchange as a second source: what both tell counts once, and its loss costs nothing."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aio_pika
import pytest
from aio_pika.abc import AbstractExchange

from chassis.amqp import close_quietly
from chassis.feed import Feed
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire
from contracts.facts import EchoObserved, ReceiptRecorded
from contracts.status import Status
from status_ingest.subscribers import gateway_feed
from status_ingest.usecases.keep_event import BODY_BYTES_MAX

from .conftest import Schema, Service, dispatched, reference, replica, update

QUEUE, EXCHANGE = "pilot.status-ingest.gateway", "evolution_exchange"


class Gateway:
    """Publishes as Evolution does: no properties, no confirms, nobody told when it is lost."""

    def __init__(self, exchange: AbstractExchange, queue: aio_pika.abc.AbstractQueue) -> None:
        self.exchange, self.queue = exchange, queue

    async def publish(self, payload: object, *, key: str = "messages.update") -> None:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        await self.exchange.publish(aio_pika.Message(body), routing_key=key)

    async def left(self) -> int:
        """Messages ready in the queue."""
        declared = await self.queue.channel.declare_queue(QUEUE, passive=True)
        return int(declared.declaration_result.message_count or 0)

    async def until_left(self, count: int) -> None:
        """So many are ready, the others with a consumer or gone."""

        async def is_so() -> bool:
            return await self.left() == count

        await eventually(is_so, f"{count} messages left")


@pytest.fixture
async def wire(vhost: VirtualHost) -> AsyncIterator[Wire]:
    async with Wire(vhost.url, default_port=5672) as opened:
        yield opened


@pytest.fixture
async def feed(service: Service, wire: Wire) -> AsyncIterator[Feed]:
    """Consuming by way of the wire."""
    opened = feed_of(service, wire.url)
    await opened.start()
    await eventually(lambda: opened.problem() is None, "consuming")
    yield opened
    await opened.stop()


@pytest.fixture
async def gateway(feed: Feed, vhost: VirtualHost) -> AsyncIterator[Gateway]:
    connection = await aio_pika.connect(vhost.url)
    channel = await connection.channel(publisher_confirms=False)
    exchange = await channel.declare_exchange(EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
    queue = await channel.declare_queue(QUEUE, passive=True)
    yield Gateway(exchange, queue)
    await close_quietly(connection)


def feed_of(service: Service, url: str) -> Feed:
    return gateway_feed(url, service.keep, queue=QUEUE, exchanges=[EXCHANGE, "loja"])


async def kept(service: Service) -> int:
    (row,) = await service.rows(
        "SELECT (SELECT count(*) FROM status_ingest.raw_events) + (SELECT count(*) FROM status_ingest.quarantine) AS n"
    )
    return int(row.n)


async def until_kept(service: Service, count: int) -> None:
    async def enough() -> bool:
        return await kept(service) >= count

    await eventually(enough, f"{count} events kept")


async def test_case_60_what_webhook_and_exchange_both_tell_counts_once(service: Service, gateway: Gateway) -> None:
    await service.keys.submit(dispatched(reference(), "K1"))
    echo = {"key": {"id": "K1", "fromMe": True, "remoteJid": "5547900000000@s.whatsapp.net"}}
    for payload in (update("K1", "DELIVERY_ACK"), {"event": "send.message", "instance": "loja", "data": echo}):
        await gateway.publish(payload, key=str(payload["event"]))
        await service.post(payload)
    await gateway.publish({"event": "presence.update", "instance": "loja", "data": {}}, key="presence.update")
    await until_kept(service, 4)
    await service.interpret()
    assert [fact.status for fact in await service.said(ReceiptRecorded)] == [Status.DELIVERED]
    assert len(await service.said(EchoObserved)) == 1
    assert await kept(service) == 4
    assert await gateway.left() == 0


async def test_an_instance_with_an_exchange_of_its_own_is_heard(service: Service, gateway: Gateway) -> None:
    own = await gateway.queue.channel.declare_exchange("loja", aio_pika.ExchangeType.TOPIC, passive=True)
    await own.publish(aio_pika.Message(json.dumps(update("K1", "READ")).encode()), routing_key="messages.update")
    await until_kept(service, 1)


async def test_case_58_broken_bodies_are_quarantined_and_acknowledged(
    service: Service, feed: Feed, gateway: Gateway
) -> None:
    bodies: list[object] = [b"", b"{", b"\xff\xfe\x00", b"x" * (BODY_BYTES_MAX + 1), ["an", "array"], update("K1", 2)]
    for body in bodies:
        await gateway.publish(body)
    await until_kept(service, len(bodies))
    await service.interpret()
    rows = await service.rows("SELECT reason FROM status_ingest.quarantine ORDER BY reason")
    assert [row.reason for row in rows] == ["empty", "not_an_object", "not_json", "not_json", "too_large"]
    await feed.stop()
    assert await gateway.left() == 0


async def test_case_60_the_feed_goes_on_after_its_connection_was_lost(
    service: Service, feed: Feed, gateway: Gateway, wire: Wire
) -> None:
    await gateway.publish(update("K1", "READ"))
    await until_kept(service, 1)
    wire.cut()
    await eventually(lambda: feed.problem() is not None, "loss noticed")
    for number in range(20):
        await gateway.publish(update(f"W{number}", "READ"))
    assert await kept(service) == 1
    wire.mend()
    await until_kept(service, 21)


async def test_case_60_nothing_is_acknowledged_before_it_is_kept(
    service: Service, schema: Schema, stack: AsyncExitStack, feed: Feed, gateway: Gateway, wire: Wire
) -> None:
    await feed.stop()
    async with Wire(schema.url, default_port=5432) as way_to_database:
        apart = await replica(way_to_database.url, stack)
        way_to_database.cut()
        helpless, returned = feed_of(apart, wire.url), feed_of(service, wire.url)
        await helpless.start()
        await eventually(lambda: helpless.problem() is None, "consuming")
        for number in range(10):
            await gateway.publish(update(f"K{number}", "READ"))
        await gateway.until_left(0)
        await helpless.stop()
        await gateway.until_left(10)
        await apart.database.stop()
    await returned.start()
    await until_kept(service, 10)
    await returned.stop()
    assert await gateway.left() == 0
    assert await kept(service) == 10


async def test_case_60_a_gateways_broker_that_is_down_hurts_nobody(service: Service) -> None:
    feed = feed_of(service, "amqp://guest:guest@127.0.0.1:1/nothing")
    await feed.start()
    assert (await service.post(update("K1", "READ"))).status_code == 200
    assert feed.problem() is not None
    await feed.stop()
