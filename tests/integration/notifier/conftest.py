"""A database of our own with the notifier's schema, the notifier's parts standing on it, and a customer's server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

import notifier
from chassis.migrations import Migrations
from chassis.provisioning import provision
from notifier.tables import metadata

from .customer import Customer
from .rig import ADMIN_URL, SERVER, Builder, Schema, eventually


@pytest.fixture(scope="session")
async def schema() -> AsyncIterator[Schema]:
    """A fresh database, provisioned and migrated by the chassis, dropped with its role at the end."""
    name = f"pilot_it_{uuid4().hex[:12]}"
    role = f"{name}_notifier"
    admin = await asyncpg.connect(ADMIN_URL)
    try:
        await admin.execute(f'CREATE DATABASE "{name}"')
        built = Schema(
            url=f"postgresql://{role}:secret@{SERVER}/{name}", admin_url=f"postgresql://postgres@{SERVER}/{name}"
        )
        await provision(built.admin_url, database_url=built.url, schema="notifier")
        await Migrations(metadata=metadata, package=Path(notifier.__file__).parent).upgrade(built.url)
        yield built
    finally:
        await admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        await admin.execute(f'DROP ROLE IF EXISTS "{role}"')
        await admin.close()


@pytest.fixture
async def customer() -> AsyncIterator[Customer]:
    """A customer's web server on loopback."""
    server = Customer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def build(schema: Schema) -> AsyncIterator[Builder]:
    """Replicas for one test, over empty tables."""
    admin = await asyncpg.connect(schema.admin_url)
    await admin.execute("TRUNCATE notifier.endpoints, notifier.deliveries, notifier.delivery_attempts, notifier.outbox")
    await admin.close()
    async with AsyncExitStack() as stack:
        yield Builder(schema=schema, stack=stack)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], Awaitable[bool] | bool], str], Awaitable[None]]:
    """Polling with a deadline."""
    return eventually


@pytest.fixture(scope="session")
async def vhost_url() -> AsyncIterator[str]:
    """A virtual host of our own on the real broker."""
    name = f"pilot_it_{uuid4().hex[:12]}"
    await _rabbitmqctl("add_vhost", name)
    try:
        await _rabbitmqctl("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
        yield f"amqp://guest:guest@127.0.0.1:5672/{name}"
    finally:
        await _rabbitmqctl("delete_vhost", name)


async def _rabbitmqctl(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec("rabbitmqctl", "-q", *arguments)
    assert await process.wait() == 0
