"""The ground of the outbox benches: one quorum queue, and an exchange bound to it, in a workspace of our own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aio_pika
import asyncpg
from aio_pika.abc import AbstractChannel, AbstractQueue

from local_stack.workspace import Workspace

EXCHANGE, QUEUE, NOWHERE = "bench.facts", "bench.facts", "bench.nowhere"
"""`NOWHERE` is a routing key that leads to no queue."""
DRAIN_SECONDS_MAX = 120.0
_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where both outboxes and the broker are, with a connection to look at them."""

    database_url: str
    broker_url: str
    channel: AbstractChannel
    queue: AbstractQueue
    database: "asyncpg.Connection[Any]"

    async def until_empty(self, table: str) -> None:
        """Return once every row of the table is confirmed and deleted."""
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while await self.database.fetchval(f"SELECT EXISTS (SELECT FROM {table})"):
                await asyncio.sleep(_POLL_SECONDS)

    async def until_heard(self, count: int) -> None:
        """Return once the queue holds that many messages; it is empty afterwards."""
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while (await self.channel.declare_queue(QUEUE, passive=True)).declaration_result.message_count != count:
                await asyncio.sleep(0.05)
        await self.queue.purge()


@contextlib.asynccontextmanager
async def open_ground(workspace: Workspace) -> AsyncIterator[Ground]:
    """Exchange, queue and connections; the workspace takes all of it along."""
    connection = await aio_pika.connect(workspace.broker_url)
    database = await asyncpg.connect(workspace.database_admin_url)
    async with connection, contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        channel = await connection.channel()
        exchange = await channel.declare_exchange(EXCHANGE, aio_pika.ExchangeType.TOPIC, durable=True)
        queue = await channel.declare_queue(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
        await queue.bind(exchange, routing_key="said.#")
        yield Ground(
            database_url=workspace.database_admin_url,
            broker_url=workspace.broker_url,
            channel=channel,
            queue=queue,
            database=database,
        )
