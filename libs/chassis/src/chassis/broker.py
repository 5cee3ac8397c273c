"""The consuming side of a service: static queues over FastStream, with a connection nobody publishes on."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aio_pika.abc import AbstractIncomingMessage

from chassis.amqp import close_quietly, connect
from chassis.consumption import InFlight, consume_one
from chassis.deliveries import Decode, Delivery, Heard, delivery_from, heard_from
from chassis.redelivery import Redelivery
from chassis.stream import Consumer, Stream
from chassis.supervision import OnFatal, Supervisor
from chassis.telemetry.logs import get_logger
from chassis.topology import Topology, declare_on
from contracts.topology import Queue

logger = get_logger(__name__)

SETUP_TIMEOUT_SECONDS = 90.0
CHECK_INTERVAL_SECONDS = 5.0

Value = TypeVar("Value")


class Broker:
    """Hears queues. It starts without waiting for RabbitMQ, returns after every loss, and stops consuming first.

    `drain_timeout_seconds` bounds the wait for handlers in flight when consuming stops; what is not finished then goes
    back to its queue. `on_fatal` is told when the broker has been reachable for `give_up_after_seconds` in vain.
    """

    name = "broker"

    def __init__(
        self,
        url: str,
        *,
        service: str,
        topology: Topology,
        decode: Decode,
        redelivery: Redelivery | None = None,
        on_fatal: OnFatal | None = None,
        give_up_after_seconds: float = 120.0,
        drain_timeout_seconds: float = 12.0,
    ) -> None:
        self._url, self._connection_name = url, f"{service}:consume"
        self._topology, self._decode = topology, decode
        self._redelivery = redelivery or Redelivery()
        self._drain_timeout_seconds = drain_timeout_seconds
        self._consumers: list[Consumer] = []
        self._stream: Stream | None = None
        self._is_stopping, self._closing = False, asyncio.Event()
        self._in_flight = InFlight()
        self._supervisor = Supervisor(
            self._connection_name, self._session, on_fatal=on_fatal, give_up_after_seconds=give_up_after_seconds
        )

    def hear(self, queue: Queue, handler: Callable[[Heard], Awaitable[None]], *, prefetch: int = 20) -> None:
        """Register before `start`. Up to `prefetch` handlers of this queue run at once, in no order."""
        self._add(queue, prefetch, lambda message: heard_from(message, self._decode), handler)

    def hear_raw(self, queue: Queue, handler: Callable[[Delivery], Awaitable[None]], *, prefetch: int = 20) -> None:
        """Hear every message of a queue as it is, unreadable ones too: for the queue of dead letters."""
        self._add(queue, prefetch, delivery_from, handler)

    async def start(self) -> None:
        """Begin in the background; a broker that is down only delays it."""
        self._supervisor.start()

    async def stop_consuming(self) -> None:
        """Cancel the consumers, then let handlers in flight finish; waiting and pausing ones end at once."""
        self._is_stopping = True
        stream = self._stream
        if stream is None:
            await self._supervisor.stop()
        else:
            await stream.cancel_consumers()
        self._closing.set()
        if not await self._in_flight.wait_idle(self._drain_timeout_seconds):
            logger.warning("handlers_abandoned", consumer=self._connection_name)

    async def stop(self) -> None:
        """Stop consuming, then close the connection."""
        if not self._closing.is_set():
            await self.stop_consuming()
        await self._supervisor.stop()

    def problem(self) -> str | None:
        """For readiness: None while every queue is being consumed."""
        return self._supervisor.problem()

    def _add(
        self,
        queue: Queue,
        prefetch: int,
        read: Callable[[AbstractIncomingMessage], Value],
        handler: Callable[[Value], Awaitable[None]],
    ) -> None:
        async def consume(message: AbstractIncomingMessage) -> None:
            with self._in_flight:
                await consume_one(
                    message,
                    queue_name=queue.name,
                    read=read,
                    handler=handler,
                    redelivery=self._redelivery,
                    closing=self._closing,
                )

        self._consumers.append(Consumer(queue_name=queue.name, prefetch=prefetch, consume=consume))

    async def _session(self) -> None:
        async with asyncio.timeout(SETUP_TIMEOUT_SECONDS):
            await self._declare()
        stream = Stream(self._url, self._consumers, name=self._connection_name)
        try:
            async with asyncio.timeout(SETUP_TIMEOUT_SECONDS):
                await stream.start()
            self._stream = stream
            self._supervisor.working()
            await self._until_lost(stream)
        finally:
            self._stream = None
            await stream.close()

    async def _declare(self) -> None:
        connection = await connect(self._url, name=f"{self._connection_name}:topology")
        try:
            self._supervisor.connected()
            await declare_on(connection, self._topology)
        finally:
            await close_quietly(connection)

    async def _until_lost(self, stream: Stream) -> None:
        """Losses are announced; the look at intervals is for one that was not."""
        while not stream.lost.is_set() and (self._is_stopping or stream.is_consuming()):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                    await stream.lost.wait()
