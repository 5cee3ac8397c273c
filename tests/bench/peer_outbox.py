"""The peer: `faststream-outbox`, relaying to the same broker with persistent, mandatory and confirmed publishes.

It is no dependency of ours: the bench runs it when it is importable and says so when it is not.
"""

import contextlib
import importlib
import importlib.util
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from faststream.rabbit import Channel, ExchangeType, RabbitBroker, RabbitExchange
from sqlalchemy import MetaData
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from tests.bench.ground import EXCHANGE, NOWHERE, Ground

from chassis.database import async_url

TABLE = "peer_outbox"
ROUTABLE, UNROUTABLE = "routable", "unroutable"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerTuning:
    """What the peer lets its user choose. Every worker holds a database connection as long as it runs."""

    max_workers: int = 32
    fetch_batch_size: int = 400
    terminal_flush_batch_size: int = 50
    min_fetch_interval: float = 0.05
    max_fetch_interval: float = 1.0
    lease_ttl_seconds: float = 60.0
    on_return_raises: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerOutbox:
    """`say` commits in one transaction, by the peer's own publish."""

    broker: Any
    engine: AsyncEngine

    async def say(self, bodies: Sequence[bytes], *, queue: str = ROUTABLE) -> None:
        """Return when the rows are committed."""
        async with self.engine.begin() as connection:
            await self.broker.publish_batch(*bodies, queue=queue, session=connection)


def is_installed() -> bool:
    """Whether the peer can be imported here."""
    return importlib.util.find_spec("faststream_outbox") is not None


def _table(metadata: MetaData) -> Any:
    return importlib.import_module("faststream_outbox").make_outbox_table(metadata, table_name=TABLE)


async def create_table(ground: Ground) -> None:
    """The peer's table with the peer's indexes."""
    metadata = MetaData()
    _table(metadata)
    engine = create_async_engine(async_url(ground.database_url))
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()


async def say_once(database_url: str, body: bytes) -> None:
    """Commit one routable row; whoever relays it is somebody else."""
    engine = create_async_engine(async_url(database_url), pool_size=1)
    await PeerOutbox(broker=_broker(engine), engine=engine).say([body])
    await engine.dispose()


@contextlib.asynccontextmanager
async def peer_outbox(
    database_url: str, broker_url: str, tuning: PeerTuning | None = None
) -> AsyncIterator[PeerOutbox]:
    """The peer's broker with a relay for routable and one for unroutable messages."""
    tuning = tuning or PeerTuning()
    engine = create_async_engine(async_url(database_url), pool_size=2 * tuning.max_workers + 8)
    channel = Channel(on_return_raises=tuning.on_return_raises)
    rabbit = RabbitBroker(broker_url, default_channel=channel, logger=None)
    outbox = _broker(engine)
    exchange = RabbitExchange(EXCHANGE, type=ExchangeType.TOPIC, durable=True)
    _relay(outbox, rabbit, exchange, queue=ROUTABLE, key="said.peer", tuning=tuning, workers=tuning.max_workers)
    _relay(outbox, rabbit, exchange, queue=UNROUTABLE, key=NOWHERE, tuning=tuning, workers=1)
    await rabbit.start()
    await outbox.start()
    try:
        yield PeerOutbox(broker=outbox, engine=engine)
    finally:
        await outbox.stop()
        await rabbit.stop()
        await engine.dispose()


def _broker(engine: AsyncEngine) -> Any:
    """Without injection and logging of every message: both cost it a good part of its speed."""
    module = importlib.import_module("faststream_outbox")
    return module.OutboxBroker(engine, outbox_table=_table(MetaData()), logger=None, apply_types=False)


def _relay(
    outbox: Any,
    rabbit: RabbitBroker,
    exchange: RabbitExchange,
    *,
    queue: str,
    key: str,
    tuning: PeerTuning,
    workers: int,
) -> None:
    publish = rabbit.publisher(exchange=exchange, routing_key=key, persist=True, mandatory=True)
    subscribe = outbox.subscriber(
        queue,
        max_workers=workers,
        fetch_batch_size=tuning.fetch_batch_size,
        terminal_flush_batch_size=tuning.terminal_flush_batch_size,
        min_fetch_interval=tuning.min_fetch_interval,
        max_fetch_interval=tuning.max_fetch_interval,
        lease_ttl_seconds=tuning.lease_ttl_seconds,
    )

    async def pass_on(body: bytes) -> bytes:
        return body

    publish(subscribe(pass_on))
