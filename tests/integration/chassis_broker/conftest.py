"""A virtual host of our own on the real broker, and one set of exchanges per test."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import uuid4

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from pydantic import ValidationError

import local_stack.vhosts
from chassis.amqp import close_quietly
from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.redelivery import Redelivery
from chassis.topology import Topology, declare
from contracts.registry import UnreadableError
from contracts.statement import Statement
from contracts.topology import Binding, Queue
from local_stack.backing import Backing, open_backing

WAIT_SECONDS = 20.0
QUICK = Redelivery(wait_first_seconds=0.02, wait_max_seconds=0.05, pause_first_seconds=0.01, pause_max_seconds=0.02)


class Pinged(Statement):
    """The only statement of these tests."""

    TYPE: ClassVar[str] = "test.pinged.v1"
    EXCHANGE: ClassVar[str] = "unused"

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualHost:
    """Where this run's queues live."""

    name: str
    broker: local_stack.vhosts.Broker

    @property
    def url(self) -> str:
        return self.broker.url(self.name)

    async def create(self) -> None:
        """From now on it exists."""
        await asyncio.to_thread(self.broker.create_vhost, self.name)


class Wire:
    """Forwards connections to a broker until they are cut, or frozen: open, and carrying nothing any more."""

    def __init__(self, target_url: str) -> None:
        self._target_url = urlsplit(target_url)
        self._pumps: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._port = 0

    @property
    def url(self) -> str:
        login, _, _ = self._target_url.netloc.rpartition("@")
        return self._target_url._replace(netloc=f"{login}@127.0.0.1:{self._port}").geturl()

    async def serve(self) -> asyncio.Server:
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        return server

    async def freeze(self) -> None:
        pumps = tuple(self._pumps)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)

    async def cut(self) -> None:
        assert self._writers, "nobody connected"
        await self.freeze()
        writers, self._writers = self._writers, []
        for writer in writers:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self._target_url.hostname, self._target_url.port)
        self._writers += [writer, far_writer]
        for source, target in ((reader, far_writer), (far_reader, writer)):
            pump = asyncio.create_task(_pump(source, target))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()


@dataclass(slots=True, kw_only=True)
class Place:
    """Exchanges of one test, and a channel to look at and publish to its queues."""

    url: str
    channel: AbstractChannel
    statement: type[Pinged] = Pinged
    mark: str = field(default_factory=lambda: uuid4().hex[:8])
    delivery_limit: int = 20

    @property
    def dead_exchange(self) -> str:
        return f"dead.{self.mark}"

    @property
    def dead_queue(self) -> Queue:
        return Queue(f"dead-letters.{self.mark}", (Binding(self.dead_exchange, "#"),))

    def decode(self, kind: str, body: bytes) -> Statement:
        """What a service passes as `decode`."""
        if kind != Pinged.TYPE:
            raise UnreadableError("unknown type")
        try:
            return Pinged.model_validate_json(body)
        except ValidationError:
            raise UnreadableError("invalid body") from None

    async def eventually(self, condition: Callable[[], Awaitable[bool] | bool], what: str) -> None:
        """Poll until true; fail at a deadline."""
        deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
        while True:
            result = condition()
            if result if isinstance(result, bool) else await result:
                return
            assert asyncio.get_running_loop().time() < deadline, f"not within {WAIT_SECONDS} s: {what}"
            await asyncio.sleep(0.02)

    def queue(self, name: str = "work") -> Queue:
        return Queue(f"{name}.{self.mark}", (Binding(f"facts.{self.mark}", name),))

    def topology(self, *queues: Queue) -> Topology:
        return Topology(
            exchanges=((f"facts.{self.mark}", "topic"), (self.dead_exchange, "topic")),
            queues=queues,
            dead_exchange=self.dead_exchange,
            dead_queue=self.dead_queue,
            delivery_limit=self.delivery_limit,
        )

    async def declare(self, *queues: Queue) -> None:
        """The exchanges and these queues exist from now on."""
        await declare(self.url, self.topology(*queues))

    async def publish(self, queue: Queue, *numbers: int, **changes: Any) -> None:
        """Put statements straight into a queue."""
        await asyncio.gather(*(self._publish_one(queue, number, changes) for number in numbers))

    async def _publish_one(self, queue: Queue, number: int, changes: dict[str, Any]) -> None:
        properties: dict[str, Any] = {
            "body": Pinged(number=number).body(),
            "type": Pinged.TYPE,
            "message_id": str(uuid4()),
            "timestamp": datetime.now(UTC),
            "delivery_mode": 2,
        } | changes
        await self.channel.default_exchange.publish(aio_pika.Message(**properties), queue.name)

    async def depth(self, queue: Queue) -> int:
        """Messages ready in a queue."""
        declared = await self.channel.declare_queue(queue.name, passive=True)
        return declared.declaration_result.message_count or 0

    async def holds(self, queue: Queue, count: int) -> None:
        """Wait until that many messages are ready: the broker counts what came back a moment later."""

        async def look() -> bool:
            return await self.depth(queue) == count

        await self.eventually(look, f"{count} messages in the queue")

    async def dead_letter(self) -> AbstractIncomingMessage:
        """Wait for one dead letter and take it."""
        queue = await self.channel.get_queue(self.dead_queue.name, ensure=False)
        found: list[AbstractIncomingMessage] = []

        async def look() -> bool:
            message = await queue.get(fail=False)
            found.extend([message] if message else [])
            return bool(found)

        await self.eventually(look, "a dead letter")
        await found[0].ack()
        return found[0]


@pytest.fixture(scope="session")
def backing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backing]:
    with open_backing(tmp_path_factory.mktemp("backing")) as backing:
        yield backing


@pytest.fixture(scope="session")
def new_host(backing: Backing) -> Iterator[Callable[[], VirtualHost]]:
    """Names virtual hosts; each is dropped at the end if it exists."""
    named: list[VirtualHost] = []

    def name() -> VirtualHost:
        named.append(VirtualHost(name=f"chassis-{uuid4().hex[:8]}", broker=backing.rabbitmq))
        return named[-1]

    yield name
    for host in named:
        backing.rabbitmq.delete_vhost(host.name)


@pytest.fixture(scope="session")
async def host(new_host: Callable[[], VirtualHost]) -> VirtualHost:
    host = new_host()
    await host.create()
    return host


@pytest.fixture
async def open_place() -> AsyncIterator[Callable[..., Awaitable[Place]]]:
    """Places at any broker's address; `mark` names the queues of an earlier one."""
    connections: list[AbstractConnection] = []

    async def open_one(url: str, **marks: str) -> Place:
        connections.append(await aio_pika.connect(url))
        return Place(url=url, channel=await connections[-1].channel(), **marks)

    yield open_one
    for connection in connections:
        await close_quietly(connection)


@pytest.fixture
async def place(host: VirtualHost, open_place: Callable[..., Awaitable[Place]]) -> Place:
    return await open_place(host.url)


@pytest.fixture
async def wire(host: VirtualHost) -> AsyncIterator[Wire]:
    wire = Wire(host.url)
    server = await wire.serve()
    yield wire
    server.close()
    with contextlib.suppress(AssertionError):
        await wire.cut()
    await server.wait_closed()


class Listener:
    """Opens brokers for one test and stops them at its end."""

    def __init__(self, place) -> None:
        self.place = place
        self.queue = place.queue()
        self._brokers: list[Broker] = []

    async def open(
        self, handler: Callable[[Heard], Awaitable[None]], *, prefetch: int = 20, url: str | None = None, **options
    ) -> Broker:
        options = {"redelivery": QUICK, "service": f"svc-{self.place.mark}"} | options
        broker = Broker(
            url or self.place.url, topology=self.place.topology(self.queue), decode=self.place.decode, **options
        )
        broker.hear(self.queue, handler, prefetch=prefetch)
        self._brokers.append(broker)
        await broker.start()
        return broker

    async def consuming(self, handler: Callable[[Heard], Awaitable[None]], **options) -> Broker:
        broker = await self.open(handler, **options)
        await self.place.eventually(lambda: broker.problem() is None, "consuming")
        return broker

    async def close(self) -> None:
        for broker in self._brokers:
            await broker.stop()


@pytest.fixture
async def listener(place) -> AsyncIterator[Listener]:
    listener = Listener(place)
    yield listener
    await listener.close()
