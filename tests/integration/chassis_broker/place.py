"""One test's corner of the broker: its exchanges and queues, its only statement, and what it has opened."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol
from uuid import uuid4

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from pydantic import ValidationError

from chassis.batch_consumer import BatchHandler
from chassis.broker import Broker
from chassis.deliveries import Heard
from chassis.dynamic_consumers import DynamicConsumers
from chassis.redelivery import Redelivery
from chassis.supervision import OnFatal
from chassis.testing.waiting import eventually
from chassis.topology import Topology, declare
from contracts.registry import UnreadableError
from contracts.statement import Statement
from contracts.topology import Binding, Queue

QUICK = Redelivery(wait_first_seconds=0.02, wait_max_seconds=0.05, pause_first_seconds=0.01, pause_max_seconds=0.02)

Handler = Callable[[Heard], Awaitable[None]]


class Pinged(Statement):
    """The only statement of these tests."""

    TYPE: ClassVar[str] = "test.pinged.v1"
    EXCHANGE: ClassVar[str] = "unused"

    number: int


class Watched(Protocol):
    """Something that can say what is wrong with it."""

    def problem(self) -> str | None: ...


def decode(kind: str, body: bytes) -> Statement:
    """What a service passes as `decode`."""
    if kind != Pinged.TYPE:
        raise UnreadableError("unknown type")
    try:
        return Pinged.model_validate_json(body)
    except ValidationError:
        raise UnreadableError("invalid body") from None


def number_of(heard: Heard) -> int:
    """What was said."""
    assert isinstance(heard.statement, Pinged)
    return heard.statement.number


def death_of(message: AbstractIncomingMessage) -> dict[str, Any]:
    """The broker's account of why it buried a message; there must be one."""
    deaths: Any = message.headers["x-death"]
    (death,) = deaths
    return dict(death)


async def ignore(_: object) -> None:
    """A handler that does nothing."""


async def all_well(*watched: Watched) -> None:
    """Wait until nobody has a problem."""
    await eventually(lambda: all(one.problem() is None for one in watched), "no problem")


@dataclass(slots=True, kw_only=True)
class Place:
    """Names with a mark of their own, and a channel to look at and publish to the queues."""

    url: str
    channel: AbstractChannel
    mark: str = field(default_factory=lambda: uuid4().hex[:8])
    delivery_limit: int = 20

    @property
    def dead_exchange(self) -> str:
        return f"dead.{self.mark}"

    @property
    def dead_queue(self) -> Queue:
        return Queue(f"dead-letters.{self.mark}", (Binding(self.dead_exchange, "#"),))

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
        """Put statements straight into a queue; `changes` are properties of the messages."""
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

        await eventually(look, f"{count} messages in the queue")

    async def round_trips(self, queue: Queue) -> None:
        """Give the broker time for what another connection asked it before: three round trips, it needs one."""
        for _ in range(3):
            await self.depth(queue)

    async def dead_letter(self) -> AbstractIncomingMessage:
        """Wait for one dead letter and take it."""
        queue = await self.channel.get_queue(self.dead_queue.name, ensure=False)
        found: list[AbstractIncomingMessage] = []

        async def look() -> bool:
            message = await queue.get(fail=False)
            found.extend([message] if message else [])
            return bool(found)

        await eventually(look, "a dead letter")
        await found[0].ack()
        return found[0]


class Listener:
    """Opens brokers that hear one queue, and stops them at the end."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.queue = place.queue()
        self._brokers: list[Broker] = []

    async def open(
        self,
        handler: Handler,
        *,
        prefetch: int = 20,
        url: str | None = None,
        redelivery: Redelivery = QUICK,
        on_fatal: OnFatal | None = None,
        give_up_after_seconds: float = 120.0,
    ) -> Broker:
        broker = Broker(
            url or self.place.url,
            service="svc",
            topology=self.place.topology(self.queue),
            decode=decode,
            redelivery=redelivery,
            on_fatal=on_fatal,
            give_up_after_seconds=give_up_after_seconds,
        )
        broker.hear(self.queue, handler, prefetch=prefetch)
        self._brokers.append(broker)
        await broker.start()
        return broker

    async def consuming(
        self, handler: Handler, *, prefetch: int = 20, url: str | None = None, redelivery: Redelivery = QUICK
    ) -> Broker:
        broker = await self.open(handler, prefetch=prefetch, url=url, redelivery=redelivery)
        await all_well(broker)
        return broker

    async def close(self) -> None:
        for broker in self._brokers:
            await broker.stop()


class OpenConsumers:
    """Opens consumers for one test and stops them at its end."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._opened: list[DynamicConsumers] = []

    async def __call__(
        self,
        handler: BatchHandler,
        *,
        url: str | None = None,
        batch_size: int = 50,
        prefetch: int = 50,
        linger_ms: float = 5,
        redelivery: Redelivery = QUICK,
    ) -> DynamicConsumers:
        consumers = DynamicConsumers(
            url or self._place.url,
            service="svc",
            decode=decode,
            handler=handler,
            dead_exchange=self._place.dead_exchange,
            batch_size=batch_size,
            prefetch=prefetch,
            linger_ms=linger_ms,
            delivery_limit=self._place.delivery_limit,
            redelivery=redelivery,
        )
        self._opened.append(consumers)
        await consumers.start()
        return consumers

    async def close(self) -> None:
        for consumers in self._opened:
            await consumers.stop()
