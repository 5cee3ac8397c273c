"""The reference of the relay: aio-pika alone, persistent, mandatory, confirmed, with a window of unconfirmed ones."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import aio_pika
from aio_pika.abc import AbstractExchange
from tests.bench.ground import EXCHANGE, Ground


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPublisher:
    """Publishes from memory: no table is read or cleared."""

    exchange: AbstractExchange
    window: int

    async def publish(self, bodies: Sequence[bytes]) -> None:
        """Return when all are confirmed; never more than `window` are not."""
        remaining = iter(bodies)
        await asyncio.gather(*(self._work(remaining) for _ in range(self.window)))

    async def _work(self, remaining: Iterator[bytes]) -> None:
        for body in remaining:
            message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
            await self.exchange.publish(message, "said.raw", mandatory=True)


@contextlib.asynccontextmanager
async def raw_publisher(ground: Ground, *, window: int) -> AsyncIterator[RawPublisher]:
    """One connection, one channel in confirm mode."""
    connection = await aio_pika.connect(ground.broker_url)
    async with connection:
        channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
        yield RawPublisher(exchange=await channel.get_exchange(EXCHANGE, ensure=False), window=window)
