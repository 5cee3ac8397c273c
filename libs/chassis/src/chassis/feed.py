"""Hears what somebody else's exchanges say: raw bodies in batches, acknowledged together once they are safe."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aio_pika import ExchangeType
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage, AbstractQueue
from prometheus_client import Gauge

from chassis.amqp import BROKER_TROUBLE, CLOSE_TIMEOUT_SECONDS, close_quietly, connect, last_resort_arguments
from chassis.arrivals import Arrivals
from chassis.consumption import consumed_total, settle_quietly
from chassis.redelivery import Outcome, Redelivery, attempt
from chassis.supervision import Supervisor
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry

logger = get_logger(__name__)

SETUP_TIMEOUT_SECONDS = 30.0
LINGER_SECONDS = 0.005

feed_up = Gauge(
    "pilot_feed_up", "1 while a feed from a broker that is not ours is consumed.", ["queue"], registry=registry
)

Handler = Callable[[Sequence[bytes]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Our own queue, bound with every key to every exchange; durable topic exchanges, as their owner declares them.

    Beyond `length_max` messages the oldest are dropped: while we are away, a stranger's disk must not fill up.
    """

    queue: str
    exchanges: tuple[str, ...]
    keys: tuple[str, ...]
    length_max: int = 1_000_000


class Feed:
    """A stage. `handle` keeps a whole batch or raises; an outage is waited out with the batch unacknowledged.

    It starts without the broker, returns after every loss and never ends the process: its owner must treat what it
    brings as a bonus. A body that fails alone and is no victim of an outage is dropped and logged: it would come again
    for ever. `prefetch` bounds what is in memory.
    """

    def __init__(
        self,
        url: str,
        source: Source,
        handle: Handler,
        *,
        name: str,
        prefetch: int = 200,
        redelivery: Redelivery | None = None,
        drain_timeout_seconds: float = 12.0,
    ) -> None:
        self.name = name
        self._url, self._source, self._handle, self._prefetch = url, source, handle, prefetch
        self._redelivery = redelivery or Redelivery()
        self._drain_timeout_seconds = drain_timeout_seconds
        self._up = feed_up.labels(queue=source.queue)
        self._cancel: Callable[[], Awaitable[None]] | None = None
        self._closing, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._supervisor = Supervisor(name, self._session)

    async def start(self) -> None:
        """Begin in the background."""
        self._supervisor.start()

    async def stop(self) -> None:
        """No more deliveries, then an end to what has arrived, then none to the connection."""
        self._closing.set()
        if self._cancel is not None:
            with contextlib.suppress(*BROKER_TROUBLE):
                await self._cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._drain_timeout_seconds):
                await self._idle.wait()
        await self._supervisor.stop()

    def problem(self) -> str | None:
        """None while the queue is consumed."""
        return self._supervisor.problem()

    async def _session(self) -> None:
        connection = await connect(self._url, name=self.name)
        try:
            arrivals = Arrivals(batch_size=max(1, self._prefetch // 2), linger_seconds=LINGER_SECONDS)
            async with asyncio.timeout(SETUP_TIMEOUT_SECONDS):
                await self._consume(connection, arrivals)
            self._supervisor.working()
            self._idle.clear()
            self._up.set(1)
            while batch := await arrivals.next_batch():
                await self._conclude(batch)
        finally:
            self._cancel = None
            self._up.set(0)
            self._idle.set()
            await close_quietly(connection)

    async def _consume(self, connection: AbstractConnection, arrivals: Arrivals) -> None:
        channel = connection.channel(publisher_confirms=False)
        await channel.initialize()
        await channel.set_qos(prefetch_count=self._prefetch)
        arguments = {**last_resort_arguments(), "x-max-length": self._source.length_max}
        queue = await channel.declare_queue(self._source.queue, durable=True, arguments=arguments)
        for exchange in self._source.exchanges:
            await channel.declare_exchange(exchange, ExchangeType.TOPIC, durable=True)
            for key in self._source.keys:
                await queue.bind(exchange, routing_key=key)
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(lambda _: arrivals.end(discard=True))
        underlay.closing.add_done_callback(lambda _: arrivals.end(discard=True))
        tag = await queue.consume(arrivals.add)
        self._cancel = lambda: _no_more(queue, tag, arrivals)

    async def _conclude(self, messages: Sequence[AbstractIncomingMessage]) -> None:
        """Batches are settled in order, so one frame acknowledges everything up to the last of this one."""
        attempted = await attempt(
            lambda: self._handle([message.body for message in messages]), self._redelivery, self._closing
        )
        if attempted.outcome is Outcome.DONE:
            await settle_quietly(messages[-1].ack(multiple=True))
        elif attempted.outcome is Outcome.UNAVAILABLE:
            for message in reversed(messages):
                await settle_quietly(message.reject(requeue=True))
        elif len(messages) > 1:
            for message in messages:
                await self._conclude([message])
            return
        else:
            logger.exception("delivery_dropped", error=attempted.error, queue=self._source.queue)
            await settle_quietly(messages[0].reject(requeue=False))
        consumed_total.labels(queue=self._source.queue, outcome=attempted.outcome.value).inc(len(messages))


async def _no_more(queue: AbstractQueue, tag: str, arrivals: Arrivals) -> None:
    try:
        await queue.cancel(tag, timeout=CLOSE_TIMEOUT_SECONDS)
    finally:
        arrivals.end(discard=False)
