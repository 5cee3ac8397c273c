"""The ground of the outbox benches: one quorum queue, and an exchange bound to it, in a workspace of our own."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aio_pika
import asyncpg
from aio_pika.abc import AbstractChannel, AbstractQueue

from chassis.testing.waiting import eventually
from local_stack.workspace import Workspace

EXCHANGE, QUEUE, NOWHERE = "bench.facts", "bench.facts", "bench.nowhere"
"""`NOWHERE` is a routing key that leads to no queue."""
DRAIN_SECONDS_MAX = 120.0


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
        question = f"SELECT NOT EXISTS (SELECT FROM {table})"
        await eventually(lambda: self.is_so(question), f"{table} empty", timeout_seconds=DRAIN_SECONDS_MAX)

    async def until_heard(self, count: int) -> None:
        """Return once the queue holds that many messages; it is empty afterwards."""

        async def has_come() -> bool:
            declared = await self.channel.declare_queue(QUEUE, passive=True)
            return declared.declaration_result.message_count == count

        await eventually(has_come, f"{count} messages", timeout_seconds=DRAIN_SECONDS_MAX)
        await self.queue.purge()

    async def is_so(self, question: str) -> bool:
        """The answer of the database."""
        return bool(await self.database.fetchval(question))


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
        await queue.purge()
        yield Ground(
            database_url=workspace.database_admin_url,
            broker_url=workspace.broker_url,
            channel=channel,
            queue=queue,
            database=database,
        )
