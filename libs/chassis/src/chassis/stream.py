"""FastStream reduced to what we use of it: subscribers with their own channel, and acknowledgement in our hands."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import cast

from aio_pika import IncomingMessage
from aio_pika.abc import AbstractRobustQueue
from aiormq import Channel as UnderlayChannel
from faststream import AckPolicy
from faststream.rabbit import Channel, QueueType, RabbitBroker, RabbitQueue
from faststream.rabbit.message import RabbitMessage
from faststream.rabbit.subscriber import RabbitSubscriber

from chassis.amqp import BROKER_TROUBLE, CLOSE_TIMEOUT_SECONDS, CONNECT_TIMEOUT_SECONDS, amqp_url, close_quietly


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Who takes the deliveries of one queue, and how many at once."""

    queue_name: str
    prefetch: int
    consume: Callable[[IncomingMessage], Awaitable[None]]


class Stream:
    """One life of the consuming connection: it ends at the first loss of the connection, a channel or a consumer.

    FastStream would recover by itself, but a consumer whose queue is gone stops the recovery of all; a new `Stream`
    after a fresh declaration does not. The attributes with a leading underscore are pinned by the lock file and tests.
    """

    def __init__(self, url: str, consumers: list[Consumer], *, name: str) -> None:
        self.lost = asyncio.Event()
        self._broker = RabbitBroker(
            amqp_url(url, name=name),
            timeout=CONNECT_TIMEOUT_SECONDS,
            on_close=[self._note_loss],
            logger=None,
            apply_types=False,
            ack_policy=AckPolicy.MANUAL,
            graceful_timeout=None,
        )
        self._subscribers = [self._subscribe(consumer) for consumer in consumers]
        self._channels: list[UnderlayChannel] = []

    async def start(self) -> None:
        """Connect and consume; the queues must exist. Raises one of `amqp.BROKER_TROUBLE`."""
        for subscriber in self._subscribers:
            subscriber.running = True  # or what arrives before start() returns is dropped without an answer
        await self._connect()
        await self._broker.start()
        for subscriber in self._subscribers:
            await self._watch(subscriber)

    def is_consuming(self) -> bool:
        """True while every consumer is known to the broker."""
        return not self.lost.is_set() and all(
            not channel.is_closed and subscriber._consumer_tag in channel.consumers
            for subscriber, channel in zip(self._subscribers, self._channels, strict=True)
        )

    async def cancel_consumers(self) -> None:
        """Stop deliveries before anything else, so that none arrives which nobody will handle."""
        with contextlib.suppress(*BROKER_TROUBLE):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await asyncio.gather(*(_cancel(subscriber) for subscriber in self._subscribers))

    async def close(self) -> None:
        """Close the connection; what is unsettled returns to its queue."""
        if self._broker._connection is not None:
            await close_quietly(self._broker._connection)
        with contextlib.suppress(*BROKER_TROUBLE):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._broker.stop()

    async def _connect(self) -> None:
        """Cut short, FastStream would leave behind a connection that reopens for ever and refuses to be cancelled."""
        connecting = asyncio.ensure_future(self._broker.connect())
        try:
            await asyncio.shield(connecting)
        except asyncio.CancelledError:
            await asyncio.wait([connecting], timeout=2 * CONNECT_TIMEOUT_SECONDS)
            raise

    def _subscribe(self, consumer: Consumer) -> RabbitSubscriber:
        subscriber = self._broker.subscriber(
            RabbitQueue(consumer.queue_name, queue_type=QueueType.QUORUM, declare=False),
            channel=Channel(prefetch_count=consumer.prefetch, publisher_confirms=False),
            ack_policy=AckPolicy.MANUAL,
            parser=_wrap,
            decoder=_unwrap,
            no_reply=True,
        )
        subscriber(consumer.consume)
        return subscriber

    async def _watch(self, subscriber: RabbitSubscriber) -> None:
        queue: AbstractRobustQueue | None = subscriber._queue_obj
        if queue is None:
            raise RuntimeError("the subscriber did not start")
        channel = cast(UnderlayChannel, await queue.channel.get_underlay_channel())
        channel.on_consumer_cancel_callbacks.add(self._note_loss)
        channel.closing.add_done_callback(self._note_loss)
        self._channels.append(channel)

    def _note_loss(self, *_: object) -> None:
        self.lost.set()


async def _cancel(subscriber: RabbitSubscriber) -> None:
    queue, tag = subscriber._queue_obj, subscriber._consumer_tag
    if queue is not None and tag is not None:
        subscriber._consumer_tag = None
        await queue.cancel(tag)


async def _wrap(message: IncomingMessage) -> RabbitMessage:
    """Spares FastStream the parsing nobody reads."""
    return RabbitMessage(raw_message=message, body=b"", correlation_id="-", message_id="-")


async def _unwrap(message: RabbitMessage) -> IncomingMessage:
    return message.raw_message
