"""Publishes batches on one channel and says of each item what the broker did with it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import cast
from uuid import UUID

from aio_pika.abc import AbstractChannel, AbstractConnection, DeliveryMode
from aio_pika.exceptions import AMQPConnectionError, ChannelNotFoundEntity, DeliveryError, PublishError
from aiormq import Channel as UnderlayChannel
from aiormq import spec
from pamqp.common import FieldTable

from chassis.amqp import BROKER_TROUBLE, close_quietly, connect


class BrokerLostError(Exception):
    """There is no usable connection to the broker right now."""


class Outcome(StrEnum):
    """What became of one publish."""

    CONFIRMED = "confirmed"
    RETURNED = "returned"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One statement ready for the broker."""

    statement_id: UUID
    exchange: str
    routing_key: str
    type: str
    body: bytes
    traceparent: str | None
    said_at: datetime


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
        async with self._turn:
            try:
                missing = await self._missing_exchanges({item.exchange for item in batch})
            except BROKER_TROUBLE:
                await self.close()
                return [Outcome.LOST] * len(batch)
            tasks = [asyncio.ensure_future(self._publish_one(item, missing)) for item in batch]
        _, pending = await asyncio.wait(tasks, timeout=self._timeout)
        for task in pending:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        outcomes = [Outcome.LOST if task.cancelled() else task.result() for task in tasks]
        if Outcome.LOST in outcomes:
            await self.close()
        return outcomes

    async def _missing_exchanges(self, names: set[str]) -> set[str]:
        missing: set[str] = set()
        for name in names - self._known_exchanges:
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

    async def _publish_one(self, item: Outgoing, missing: set[str]) -> Outcome:
        if self._channel is None:
            return Outcome.LOST
        if item.exchange in missing:
            return Outcome.RETURNED
        try:
            channel = cast(UnderlayChannel, await self._channel.get_underlay_channel())
            await channel.basic_publish(
                item.body,
                exchange=item.exchange,
                routing_key=item.routing_key,
                properties=self._properties(item),
                mandatory=True,
                wait=False,  # for the socket: one flush for each of a batch would be most of its price
            )
        except (PublishError, DeliveryError):
            return Outcome.RETURNED
        except BROKER_TROUBLE:
            return Outcome.LOST
        return Outcome.CONFIRMED

    def _properties(self, item: Outgoing) -> spec.Basic.Properties:
        headers: FieldTable = {
            "cloudEvents:id": str(item.statement_id),
            "cloudEvents:source": f"/pilot/{self._source}",
            "cloudEvents:type": item.type,
            "cloudEvents:time": item.said_at.isoformat(),
            "cloudEvents:specversion": "1.0",
        }
        if item.traceparent:
            headers["traceparent"] = item.traceparent
        return spec.Basic.Properties(
            message_id=str(item.statement_id),
            message_type=item.type,
            timestamp=item.said_at,
            content_type="application/json",
            app_id=self._source,
            delivery_mode=DeliveryMode.PERSISTENT,
            headers=headers,
        )

    async def close(self) -> None:
        """Drop the connection, whatever state it is in."""
        connection, self._connection, self._channel = self._connection, None, None
        self._known_exchanges.clear()
        if connection is not None:
            await close_quietly(connection)
