"""Carries the channels of many queues over one connection, and opens them all again after a loss."""

import asyncio
import contextlib

from aio_pika.abc import AbstractConnection

from chassis.amqp import close_quietly, connect
from chassis.batch_consumer import BatchConsumer, BatchSettings
from chassis.supervision import OnFatal, Supervisor
from chassis.telemetry.logs import get_logger
from contracts.topology import Queue

logger = get_logger(__name__)

QUEUES_PER_CONNECTION_MAX = 1000
"""Each queue has its channel, and RabbitMQ allows 2047 channels on a connection by default."""

OPENING_AT_ONCE = 8
ADD_TIMEOUT_SECONDS = 5.0


class Carrier:
    """One connection and the queues consumed over it."""

    def __init__(
        self,
        url: str,
        name: str,
        settings: BatchSettings,
        *,
        on_fatal: OnFatal | None,
        give_up_after_seconds: float,
    ) -> None:
        self._url, self._name, self._settings = url, name, settings
        self._consumers: dict[str, BatchConsumer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._connection: AbstractConnection | None = None
        self._opening = asyncio.Semaphore(OPENING_AT_ONCE)
        self._supervisor = Supervisor(
            name, self._session, on_fatal=on_fatal, give_up_after_seconds=give_up_after_seconds
        )

    def start(self) -> None:
        """Begin in the background."""
        self._supervisor.start()

    def carries(self, queue_name: str) -> bool:
        """True if the queue is wanted here."""
        return queue_name in self._consumers

    def has_room(self) -> bool:
        """True if another channel fits."""
        return len(self._consumers) < QUEUES_PER_CONNECTION_MAX

    def consumed(self) -> frozenset[str]:
        """Names of the queues the broker delivers to us from."""
        return frozenset(name for name, consumer in self._consumers.items() if consumer.is_consuming)

    def problem(self) -> str | None:
        """None while everything wanted is consumed."""
        missing = len(self._consumers) - len(self.consumed())
        return self._supervisor.problem() or (f"{self._name}: {missing} queues not consumed" if missing else None)

    async def add(self, queue: Queue) -> bool:
        """Want a queue; waits for it only while connected."""
        consumer = self._consumers.setdefault(queue.name, BatchConsumer(queue, self._settings))
        if self._connection is not None:
            self._run(consumer, self._connection)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ADD_TIMEOUT_SECONDS):
                    await consumer.wait_consuming()
        return consumer.is_consuming

    async def remove(self, queue_name: str, timeout_seconds: float) -> None:
        """Want a queue no more."""
        consumer = self._consumers.pop(queue_name)
        await self._finish([consumer], timeout_seconds)

    async def drain(self, timeout_seconds: float) -> None:
        """Finish everything in flight."""
        if self._connection is None:
            await self._supervisor.stop()
        await self._finish(list(self._consumers.values()), timeout_seconds)

    async def stop(self) -> None:
        """Close the connection."""
        await self._supervisor.stop()

    async def _finish(self, consumers: list[BatchConsumer], timeout_seconds: float) -> None:
        await asyncio.gather(*(consumer.drain() for consumer in consumers))
        tasks = [self._tasks.pop(consumer.queue.name, None) for consumer in consumers]
        running = [task for task in tasks if task is not None]
        if not running:
            return
        _, busy = await asyncio.wait(running, timeout=timeout_seconds)
        for task in busy:
            logger.warning("batch_abandoned", consumer=self._name)
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)

    def _run(self, consumer: BatchConsumer, connection: AbstractConnection) -> None:
        name = consumer.queue.name
        if name not in self._tasks or self._tasks[name].done():
            run = consumer.run(connection, self._opening, self._supervisor.working)
            self._tasks[name] = asyncio.create_task(run)

    async def _session(self) -> None:
        lost = asyncio.Event()
        connection = await connect(self._url, name=self._name)
        try:
            connection.close_callbacks.add(lambda *_: lost.set())
            self._supervisor.connected()
            self._connection = connection
            for consumer in self._consumers.values():
                self._run(consumer, connection)
            if not self._consumers:
                self._supervisor.working()
            await lost.wait()
        finally:
            self._connection = None
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            self._tasks.clear()
            await close_quietly(connection)
