"""The path of one delivery: read it, hand it to its handler inside a span, and tell the broker what came of it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar, assert_never

from aio_pika.abc import AbstractIncomingMessage
from prometheus_client import Counter

from chassis.amqp import BROKER_TROUBLE
from chassis.deliveries import delivery_count, traceparent_of
from chassis.redelivery import UNREADABLE_ERRORS, Attempted, Outcome, Redelivery, attempt, interrupted
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from chassis.telemetry.tracing import span

logger = get_logger(__name__)

consumed_total = Counter(
    "pilot_consumed_total", "Deliveries by queue and by what came of them.", ["queue", "outcome"], registry=registry
)

Value = TypeVar("Value")


class InFlight:
    """Counts handlers at work, so that a shutdown can wait for them."""

    def __init__(self) -> None:
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def __enter__(self) -> None:
        self._count += 1
        self._idle.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if self._count == 0:
            self._idle.set()

    async def wait_idle(self, timeout_seconds: float) -> bool:
        """True once no handler is at work, False if time is over first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self._idle.wait()
        return self._count == 0


async def consume_one(
    message: AbstractIncomingMessage,
    *,
    queue_name: str,
    read: Callable[[AbstractIncomingMessage], Value],
    handler: Callable[[Value], Awaitable[None]],
    redelivery: Redelivery,
    closing: asyncio.Event,
) -> None:
    """Settle exactly one delivery. Only a cancellation leaves it unsettled; the broker then delivers it again."""
    try:
        value = read(message)
    except UNREADABLE_ERRORS as error:
        attempted = Attempted(outcome=Outcome.UNREADABLE, error=error)
    else:
        with span(f"process {queue_name}", parent=traceparent_of(message)):
            attempted = await attempt(lambda: handler(value), redelivery, closing)
    await settle(message, attempted, queue_name=queue_name, redelivery=redelivery, closing=closing)
    consumed_total.labels(queue=queue_name, outcome=attempted.outcome.value).inc()


async def settle(
    message: AbstractIncomingMessage,
    attempted: Attempted,
    *,
    queue_name: str,
    redelivery: Redelivery,
    closing: asyncio.Event,
) -> None:
    """Acknowledge, bury or return. Returns go by reject, never by nack: RabbitMQ 4.3 does not count a nack."""
    match attempted.outcome:
        case Outcome.DONE:
            await settle_quietly(message.ack())
        case Outcome.UNREADABLE:
            logger.error("delivery_unreadable", error=attempted.error, queue=queue_name, reason=str(attempted.error))
            await settle_quietly(message.reject(requeue=False))
        case Outcome.UNAVAILABLE:
            await settle_quietly(message.reject(requeue=True))
        case Outcome.FAILED:
            await return_after_pause(message, attempted, queue_name=queue_name, redelivery=redelivery, closing=closing)
        case _:
            assert_never(attempted.outcome)


async def return_after_pause(
    message: AbstractIncomingMessage,
    attempted: Attempted,
    *,
    queue_name: str,
    redelivery: Redelivery,
    closing: asyncio.Event,
) -> None:
    """A failed delivery waits longer each time, so that its limited deliveries outlast a short fault."""
    count = delivery_count(message)
    pause_seconds = redelivery.pause_seconds(count)
    logger.exception(
        "delivery_failed",
        error=attempted.error,
        queue=queue_name,
        type=message.type,
        delivery_count=count,
        delay_seconds=pause_seconds,
    )
    await interrupted(closing, pause_seconds)
    await settle_quietly(message.reject(requeue=True))


async def settle_quietly(settling: Awaitable[object]) -> None:
    """On a lost channel nothing can be said and nothing need be: the broker delivers again."""
    with contextlib.suppress(*BROKER_TROUBLE):
        await settling
