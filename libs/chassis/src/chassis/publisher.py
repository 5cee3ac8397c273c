"""Publishes batches on one channel and says of each item what the broker did with it."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import cast

from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import AMQPConnectionError, ChannelNotFoundEntity
from aiormq import Channel as UnderlayChannel

from chassis.amqp import BROKER_TROUBLE, close_quietly, connect
from chassis.confirms import BatchConfirms, Outcome
from chassis.publish_frames import Outgoing, PublishFrames

DEFAULT_EXCHANGE = ""
"""Always there, and takes a queue's own name as the routing key; a broker lets nobody ask for it."""


class BrokerLostError(Exception):
    """There is no usable connection to the broker right now."""


class Publisher:
    """A connection that only publishes: under a broker alarm such a connection stops, and must not stop a consumer.

    Every publish is persistent, mandatory, confirmed and bounded by `timeout_seconds` for the whole batch. Batches
    leave in the order of the calls; the next may leave before the last is confirmed.
    """

    def __init__(self, url: str, *, source: str, timeout_seconds: float = 5.0) -> None:
        self._url, self._source, self._timeout = url, source, timeout_seconds
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._known_exchanges: set[str] = set()
        self._turn = asyncio.Lock()

    async def ensure_open(self) -> None:
        """Connect if not connected; raises `BrokerLostError`."""
        async with self._turn:
            if self._channel is not None and not self._channel.is_closed:
                return
            await self.close()
            try:
                self._connection = await connect(self._url, name=f"{self._source}:publish")
                async with asyncio.timeout(self._timeout):
                    self._channel = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
            except BROKER_TROUBLE as error:
                raise BrokerLostError(type(error).__name__) from error

    async def publish(self, batch: Sequence[Outgoing]) -> Sequence[Outcome]:
        """One outcome per item, in order; after a LOST one the connection is closed, to be opened anew.

        An exchange that does not exist is RETURNED: publishing into it would close the channel under all the others.
        """
        if not batch:
            return []
        outcomes = [Outcome.RETURNED] * len(batch)
        async with self._turn:
            try:
                missing = await self._missing_exchanges({item.exchange for item in batch})
                places, confirms = await self._send(batch, missing)
            except BROKER_TROUBLE:
                await self.close()
                return [Outcome.LOST] * len(batch)
        await confirms.wait(timeout_seconds=self._timeout)
        for place, outcome in zip(places, confirms.outcomes, strict=True):
            outcomes[place] = outcome
        if Outcome.LOST in outcomes:
            await self.close()
        return outcomes

    async def _missing_exchanges(self, names: set[str]) -> set[str]:
        missing: set[str] = set()
        for name in names - self._known_exchanges - {DEFAULT_EXCHANGE}:
            if self._connection is None:
                raise AMQPConnectionError("not connected")
            async with asyncio.timeout(self._timeout):
                channel = await self._connection.channel()
                try:
                    await channel.get_exchange(name, ensure=True)
                except ChannelNotFoundEntity:
                    missing.add(name)
                    continue
                await channel.close()
            self._known_exchanges.add(name)
        return missing

    async def _send(self, batch: Sequence[Outgoing], missing: set[str]) -> tuple[Sequence[int], BatchConfirms]:
        """Which of the batch were sent, and what will be known of them."""
        if self._channel is None:
            raise AMQPConnectionError("not connected")
        channel = cast(UnderlayChannel, await self._channel.get_underlay_channel())
        packer = PublishFrames(source=self._source, channel=channel.number, body_bytes_max=channel.max_content_size)
        packed: dict[int, bytes] = {}
        for place, item in enumerate(batch):
            if item.exchange not in missing:
                with contextlib.suppress(ValueError):  # a name too long for AMQP goes nowhere, and alone
                    packed[place] = packer.pack(item)
        confirms = BatchConfirms(channel, [str(batch[place].statement_id) for place in packed])
        async with asyncio.timeout(self._timeout):
            await confirms.send(b"".join(packed.values()))
        return list(packed), confirms

    async def close(self) -> None:
        """Drop the connection, whatever state it is in."""
        connection, self._connection, self._channel = self._connection, None, None
        self._known_exchanges.clear()
        if connection is not None:
            await close_quietly(connection)
