"""Searches a running system as nobody else can: every row of every schema, every seal in it opened."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import aio_pika
import asyncpg
from tests.integration.sealing.seeding import DECLARED

from chassis.seal import KeyRing
from chassis.sealed_columns import SealedColumn
from chassis.sealed_documents import opened_in
from contracts.topology import DEAD_LETTERS, QUEUES, lane_queue
from local_stack.environment import Service
from local_stack.system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """What is planted is unique to one story, so whatever is found belongs to it."""

    system: System
    planted: Sequence[str]

    async def found(self) -> set[str]:
        """Tables that hold it, in clear or sealed, as `schema.table`."""
        connection = await asyncpg.connect(self.system.workspace.database_admin_url)
        try:
            in_clear = {name async for name, text in _rows(connection) if self.is_in(text)}
            sealed = {name async for name, text in _seals(connection, self._ring) if self.is_in(text)}
        finally:
            await connection.close()
        return in_clear | sealed

    async def in_queues(self, instance: str) -> list[str]:
        """Queues that hold any message at all: everything was heard, so nothing of it can be in one."""
        connection = await aio_pika.connect(self.system.workspace.broker_url)
        async with connection:
            channel = await connection.channel()
            names = [queue.name for queue in (*QUEUES, DEAD_LETTERS, lane_queue(instance))]
            queues = [await channel.declare_queue(name, passive=True) for name in names]
        return [queue.name for queue in queues if queue.declaration_result.message_count]

    def is_in(self, text: str) -> bool:
        return any(planted in text for planted in self.planted)

    @property
    def _ring(self) -> KeyRing:
        return KeyRing.parse(self.system.credentials.seal_keys)


async def _rows(connection: asyncpg.Connection) -> Any:
    tables = await connection.fetch(
        "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname = ANY($1)", list(Service)
    )
    assert len(tables) > 20
    for table in tables:
        for row in await connection.fetch(f"SELECT t::text AS line FROM {table['name']} t"):
            yield table["name"], row["line"]


async def _seals(connection: asyncpg.Connection, ring: KeyRing) -> Any:
    for column in (column for columns in DECLARED.values() for column in columns):
        owner = column.aad.name if column.aad is not None else "1"
        value = f"{column.column.name}->>'{column.member}'" if column.member else column.column.name
        for row in await connection.fetch(f"SELECT {owner} AS owner, {value} AS value FROM {column.table}"):
            if row["value"] is not None:
                for text in _opened(column, row["value"], row["owner"], ring):
                    yield str(column.table), text


def _opened(column: SealedColumn, value: Any, owner: Any, ring: KeyRing) -> Iterator[str]:
    bodies = [value] if column.aad is None else []
    if column.aad is not None:
        plaintext = ring.open(value, aad=owner.bytes)
        yield _readable(plaintext)
        bodies = [plaintext] if column.is_nested else []
    for body in bodies:
        for inner in opened_in(body, ring):
            yield _readable(inner)


def _readable(plaintext: bytes) -> str:
    """JSON may spell any character in several ways."""
    text = plaintext.decode("utf-8", "replace")
    try:
        return text + json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
