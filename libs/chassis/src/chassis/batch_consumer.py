"""One queue consumed in batches over a channel of its own: one worker, one acknowledgement per batch."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage

from chassis.amqp import BROKER_TROUBLE, CLOSE_TIMEOUT_SECONDS, was_cancelled_by_us
from chassis.arrivals import Arrivals
from chassis.consumption import consumed_total, settle, settle_quietly
from chassis.deliveries import Decode, Heard, heard_from
from chassis.redelivery import UNREADABLE_ERRORS, Attempted, Outcome, Redelivery, attempt, doubled, interrupted
from chassis.telemetry.logs import get_logger
from chassis.telemetry.tracing import span
from chassis.topology import declare_queue
from contracts.topology import Queue

logger = get_logger(__name__)

QUEUE_LABEL = "dynamic"
"""The label of every such queue in metrics and spans: their number has no bound."""

OPEN_TIMEOUT_SECONDS = 10.0
REOPEN_FIRST_SECONDS = 0.2
REOPEN_MAX_SECONDS = 10.0

BatchHandler = Callable[[str, Sequence[Heard]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """What all batch consumers of one process have in common."""

    decode: Decode
    handler: BatchHandler
    dead_exchange: str
    delivery_limit: int
    batch_size: int
    linger_seconds: float
    prefetch: int
    redelivery: Redelivery


@dataclass(frozen=True, slots=True)
class Item:
    """A delivery and what it says."""

    message: AbstractIncomingMessage
    heard: Heard


class BatchConsumer:
    """Declares, consumes and settles one queue for as long as its connection lives.

    A failing batch is tried item by item; a failing item pauses aside, so that it delays nobody else.
    """

    def __init__(self, queue: Queue, settings: BatchSettings) -> None:
        self.queue = queue
        self._settings = settings
        self._consuming, self._closing = asyncio.Event(), asyncio.Event()
        self._cancel: Callable[[], Awaitable[object]] | None = None
        self._aside: set[asyncio.Task[None]] = set()

    @property
    def is_consuming(self) -> bool:
        """True while the broker delivers to us."""
        return self._consuming.is_set()

    async def wait_consuming(self) -> None:
        """Until the broker delivers to us."""
        await self._consuming.wait()

    async def run(
        self, connection: AbstractConnection, opening: asyncio.Semaphore, on_consuming: Callable[[], None]
    ) -> None:
        """Consume until drained or cancelled; a lost channel or vanished queue is opened again, touching no other."""
        failures = 0
        while not self._closing.is_set():
            failures += 1
            try:
                await self._one_channel(connection, opening, on_consuming)
                failures = 0
            except BROKER_TROUBLE as error:
                logger.warning("queue_not_consumed", queue=QUEUE_LABEL, error=error)
            except asyncio.CancelledError:
                if was_cancelled_by_us():
                    raise
            await interrupted(self._closing, doubled(REOPEN_FIRST_SECONDS, failures, REOPEN_MAX_SECONDS))

    async def drain(self) -> None:
        """Stop deliveries first; `run` then finishes what has arrived and returns."""
        if self._cancel is not None:
            with contextlib.suppress(*BROKER_TROUBLE):
                await self._cancel()
        self._closing.set()

    async def _one_channel(
        self, connection: AbstractConnection, opening: asyncio.Semaphore, on_consuming: Callable[[], None]
    ) -> None:
        arrivals = Arrivals(
            batch_size=min(self._settings.batch_size, self._settings.prefetch),
            linger_seconds=self._settings.linger_seconds,
        )
        async with opening, asyncio.timeout(OPEN_TIMEOUT_SECONDS):
            channel = connection.channel(publisher_confirms=False)
            await channel.initialize()
        try:
            async with opening, asyncio.timeout(OPEN_TIMEOUT_SECONDS):
                await self._consume(channel, arrivals)
            self._consuming.set()
            on_consuming()
            while batch := await arrivals.next_batch():
                await self._handle(batch)
            await asyncio.gather(*self._aside)
        finally:
            self._cancel = None
            self._consuming.clear()
            await self._forget_aside()
            await _close(channel)

    async def _consume(self, channel: AbstractChannel, arrivals: Arrivals) -> None:
        await channel.set_qos(prefetch_count=self._settings.prefetch)
        declared = await declare_queue(
            channel,
            self.queue,
            dead_exchange=self._settings.dead_exchange,
            delivery_limit=self._settings.delivery_limit,
        )
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(lambda _: arrivals.end(discard=True))
        underlay.closing.add_done_callback(lambda _: arrivals.end(discard=True))
        tag = await declared.consume(arrivals.add)

        async def cancel() -> None:
            try:
                await declared.cancel(tag, timeout=CLOSE_TIMEOUT_SECONDS)
            finally:
                arrivals.end(discard=False)

        self._cancel = cancel

    async def _handle(self, messages: Sequence[AbstractIncomingMessage]) -> None:
        items = []
        for message in messages:
            try:
                items.append(Item(message, heard_from(message, self._settings.decode)))
            except UNREADABLE_ERRORS as error:
                await self._settle_one(message, Attempted(outcome=Outcome.UNREADABLE, error=error))
        if items:
            await self._conclude(items, await self._attempt(items))

    async def _attempt(self, items: Sequence[Item]) -> Attempted:
        heard = [item.heard for item in items]
        parent = heard[0].traceparent if len(heard) == 1 else None
        with span(f"process {QUEUE_LABEL}", parent=parent):
            return await attempt(
                lambda: self._settings.handler(self.queue.name, heard), self._settings.redelivery, self._closing
            )

    async def _conclude(self, items: Sequence[Item], attempted: Attempted) -> None:
        if attempted.outcome is Outcome.DONE:
            await self._acknowledge(items)
        elif attempted.outcome is Outcome.UNAVAILABLE:
            for item in reversed(items):
                await self._settle_one(item.message, attempted)
        elif len(items) > 1:
            for item in items:
                await self._conclude([item], await self._attempt([item]))
        elif attempted.outcome is Outcome.UNREADABLE:
            await self._settle_one(items[0].message, attempted)
        else:
            self._set_aside(items[0].message, attempted)

    async def _acknowledge(self, items: Sequence[Item]) -> None:
        """One frame for the batch, unless it would also acknowledge an earlier item that pauses aside."""
        if self._aside:
            for item in items:
                await settle_quietly(item.message.ack())
        else:
            await settle_quietly(items[-1].message.ack(multiple=True))
        consumed_total.labels(queue=QUEUE_LABEL, outcome=Outcome.DONE.value).inc(len(items))

    async def _settle_one(self, message: AbstractIncomingMessage, attempted: Attempted) -> None:
        await settle(
            message,
            attempted,
            queue_name=QUEUE_LABEL,
            redelivery=self._settings.redelivery,
            closing=self._closing,
        )
        consumed_total.labels(queue=QUEUE_LABEL, outcome=attempted.outcome.value).inc()

    def _set_aside(self, message: AbstractIncomingMessage, attempted: Attempted) -> None:
        task = asyncio.create_task(self._settle_one(message, attempted))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _forget_aside(self) -> None:
        aside = tuple(self._aside)
        for task in aside:
            task.cancel()
        await asyncio.gather(*aside, return_exceptions=True)


async def _close(channel: AbstractChannel) -> None:
    if not channel.is_closed:
        with contextlib.suppress(*BROKER_TROUBLE):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await channel.close()
