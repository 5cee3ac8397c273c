"""A schema without business: an outbox, an inbox, one table of notes, and one statement to say."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue
from sqlalchemy import BigInteger, Column, Identity, Table, Text, insert, text

from chassis.database import Database, Transaction
from chassis.inbox import inbox_table
from chassis.migrations import schema_metadata
from chassis.outbox import outbox_table
from chassis.publisher import Publisher
from chassis.relay import OutboxRelay
from chassis.testing.waiting import eventually
from contracts.statement import Statement

METADATA = schema_metadata("playground")
OUTBOX = outbox_table(METADATA)
INBOX = inbox_table(METADATA)
NOTES = Table(
    "notes",
    METADATA,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("text", Text, nullable=False, unique=True),
)
EXCHANGE = "playground.facts"

StartRelay = Callable[[str, str], Awaitable[asyncio.subprocess.Process]]
"""(database address, broker address) → a relay in a process of its own."""


class Noted(Statement):
    """Goes where `key` says."""

    TYPE: ClassVar[str] = "note.noted.v1"
    EXCHANGE: ClassVar[str] = EXCHANGE

    key: str
    text: str = ""

    def routing_key(self) -> str:
        return self.key


class Astray(Noted):
    """Said into an exchange that nobody ever declares."""

    TYPE: ClassVar[str] = "note.astray.v1"
    EXCHANGE: ClassVar[str] = "playground.nowhere"


class Direct(Noted):
    """Said straight to the queue of that name."""

    TYPE: ClassVar[str] = "note.direct.v1"
    EXCHANGE: ClassVar[str] = ""


async def write_notes(tx: Transaction, texts: Sequence[str]) -> Sequence[None]:
    """What a group commit's `write` looks like."""
    for note in texts:
        await tx.execute(insert(NOTES).values(text=note))
    return [None] * len(texts)


@dataclass(slots=True, kw_only=True)
class Playground:
    """The schema in a database of the test module."""

    url: str
    broker_url: str = field(repr=False)
    channel: AbstractChannel
    database: Database
    eyes: Database = field(init=False)
    """Its own connection, so that looking never waits for what is looked at."""
    stop_later: Callable[[Callable[[], Awaitable[None]]], None]

    def __post_init__(self) -> None:
        self.eyes = self.another_database(pool_size=3)

    def key(self) -> str:
        """A routing key no other test uses."""
        return f"note.{uuid4().hex[:8]}"

    def another_database(self, *, url: str | None = None, pool_size: int = 5) -> Database:
        """As another process would have it: it knows no relay to wake."""
        database = Database(url or self.url, outbox=OUTBOX, pool_size=pool_size, name="test")
        self.stop_later(database.stop)
        return database

    async def relay(
        self, *, database: Database | None = None, broker_url: str | None = None, batch_size: int = 200
    ) -> OutboxRelay:
        """A relay at work until the end of the test."""
        publisher = Publisher(broker_url or self.broker_url, source="test", timeout_seconds=1.0)
        relay = OutboxRelay(database or self.database, OUTBOX, publisher, database_url=self.url, batch_size=batch_size)
        await relay.start()
        self.stop_later(relay.stop)
        return relay

    async def say(self, *statements: Statement, database: Database | None = None) -> None:
        """Say statements in one transaction."""
        async with (database or self.database).transaction() as tx:
            tx.emit(*statements)

    async def rows(self, statement: str) -> Sequence[Any]:
        """Look into the tables."""
        async with self.eyes.transaction() as tx:
            return (await tx.execute(text(statement))).all()

    async def notes(self) -> list[str]:
        """The texts of all notes in the order of their writing."""
        return [row.text for row in await self.rows("SELECT text FROM playground.notes ORDER BY id")]

    async def waiting(self) -> int:
        """How many statements the outbox holds."""
        return int((await self.rows("SELECT count(*) AS n FROM playground.outbox"))[0].n)

    async def drained(self) -> None:
        """Wait until the outbox is empty."""

        async def is_empty() -> bool:
            return await self.waiting() == 0

        await eventually(is_empty, "an empty outbox")

    async def tap(self, key: str) -> "Tap":
        """A queue that hears what is said with `key` from now on."""
        queue = await self.channel.declare_queue(key, auto_delete=True)
        await queue.bind(EXCHANGE, routing_key=key)
        return Tap(queue)


@dataclass(slots=True)
class Tap:
    """What arrived so far."""

    queue: AbstractQueue
    heard: list[AbstractIncomingMessage] = field(default_factory=list)

    async def drain(self) -> None:
        """Take what is there."""
        while (message := await self.queue.get(no_ack=True, fail=False)) is not None:
            self.heard.append(message)

    async def receives(self, count: int) -> list[AbstractIncomingMessage]:
        """Wait for that many in all."""

        async def enough() -> bool:
            await self.drain()
            return len(self.heard) >= count

        await eventually(enough, f"{count} messages")
        return self.heard


async def open_channel(url: str) -> tuple[aio_pika.abc.AbstractConnection, AbstractChannel]:
    """A channel on which the exchange exists."""
    connection = await aio_pika.connect(url)
    channel = await connection.channel()
    await channel.declare_exchange(EXCHANGE, "topic", durable=True)
    return connection, channel


async def settle(tasks: Sequence["asyncio.Task[Any]"]) -> list[Any]:
    """Results and exceptions of all, within a bound."""
    async with asyncio.timeout(20):
        return await asyncio.gather(*tasks, return_exceptions=True)
