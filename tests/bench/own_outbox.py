"""Our outbox and relay, stood up as a service stands them up, on a table of their own."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import MetaData
from sqlalchemy.schema import CreateSchema
from tests.bench.ground import EXCHANGE, Ground

from chassis.database import Database
from chassis.outbox import outbox_table
from chassis.publisher import Publisher
from chassis.relay import OutboxRelay
from contracts.statement import Statement

METADATA = MetaData(schema="bench")
OUTBOX = outbox_table(METADATA)
TABLE = "bench.outbox"


class Said(Statement):
    """A statement with a body of any size and a routing key of any kind."""

    TYPE: ClassVar[str] = "bench.said.v1"
    EXCHANGE: ClassVar[str] = EXCHANGE

    key: str
    content: bytes

    def routing_key(self) -> str:
        return self.key

    def body(self) -> bytes:
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOutbox:
    """`say` commits in one transaction; `near` commits in the relay's process, the other as another process would."""

    near: Database
    far: Database

    async def say(self, bodies: Sequence[bytes], *, key: str = "said.own", near: bool = False) -> None:
        """Return when the statements are committed."""
        async with (self.near if near else self.far).transaction() as tx:
            tx.emit(*(Said(key=key, content=body) for body in bodies))


async def create_table(ground: Ground) -> None:
    """The schema and the outbox in it."""
    database = Database(ground.database_url)
    async with database.engine.begin() as connection:
        await connection.execute(CreateSchema("bench", if_not_exists=True))
        await connection.run_sync(METADATA.create_all)
    await database.stop()


@contextlib.asynccontextmanager
async def own_outbox(database_url: str, broker_url: str) -> AsyncIterator[OwnOutbox]:
    """An outbox with a running relay, as every service has it."""
    near, far = (Database(database_url, outbox=OUTBOX) for _ in range(2))
    publisher = Publisher(broker_url, source="bench")
    relay = OutboxRelay(near, OUTBOX, publisher, database_url=database_url)
    await relay.start()
    try:
        yield OwnOutbox(near=near, far=far)
    finally:
        for stage in (relay, near, far):
            await stage.stop()


async def say_once(database_url: str, body: bytes) -> None:
    """Commit one row; whoever relays it is somebody else."""
    database = Database(database_url, outbox=OUTBOX, pool_size=1)
    await OwnOutbox(near=database, far=database).say([body])
    await database.stop()
