"""A playground per test module, emptied before every test, and processes beside the tests."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from chassis.amqp import close_quietly
from chassis.database import Database, open_engine
from chassis.provisioning import provision
from chassis.testing.template_database import TemplateDatabase
from chassis.testing.virtual_host import VirtualHost

from .playground import METADATA, OUTBOX, Playground, StartRelay, open_channel

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
async def playground_url(template_database: TemplateDatabase) -> AsyncIterator[str]:
    """The schema in a database of its own, reached as its own role."""
    bare = await template_database.empty()
    url = bare.url("playground")
    await provision(bare.admin_url, database_url=url, schema="playground")
    engine = open_engine(url, pool_size=1, name="test")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    await engine.dispose()
    yield url
    await template_database.discard(bare)


@pytest.fixture
async def playground(playground_url: str, vhost: VirtualHost) -> AsyncIterator[Playground]:
    """Empty tables, an open channel, and everything the test opened closed at the end."""
    async with AsyncExitStack() as stack:
        connection, channel = await open_channel(vhost.url)
        stack.push_async_callback(close_quietly, connection)
        database = Database(playground_url, outbox=OUTBOX, name="test")
        stack.push_async_callback(database.stop)
        async with database.transaction() as tx:
            await tx.execute(text("TRUNCATE playground.notes, playground.outbox, playground.inbox RESTART IDENTITY"))

        def stop_later(stop: Callable[[], Awaitable[None]]) -> None:
            stack.push_async_callback(stop)

        yield Playground(
            url=playground_url, broker_url=vhost.url, channel=channel, database=database, stop_later=stop_later
        )


@pytest.fixture
async def start_relay() -> AsyncIterator[StartRelay]:
    """Starts relays as processes; whoever still runs at the end is killed."""
    processes: list[asyncio.subprocess.Process] = []

    async def start(database_url: str, broker_url: str) -> asyncio.subprocess.Process:
        module = "tests.integration.chassis.relay_process"
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, database_url, broker_url, cwd=ROOT)
        processes.append(process)
        return process

    yield start
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
