"""A database of our own with the notifier's schema, the notifier's parts standing on it, and a customer's server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from chassis.testing.template_database import TemplateDatabase
from chassis.testing.virtual_host import virtual_host
from local_stack.backing import Backing

from .customer import Customer
from .rig import Builder, Schema, eventually


@pytest.fixture(scope="session")
async def schema(template_database: TemplateDatabase) -> AsyncIterator[Schema]:
    """The notifier's schema in a database of its own."""
    copy = await template_database.copy()
    yield Schema(url=copy.url("notifier"), admin_url=copy.admin_url)
    await template_database.discard(copy)


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
    tables = ("endpoints", "deliveries", "delivery_attempts", "numbers", "outbox")
    await admin.execute(f"TRUNCATE {', '.join(f'notifier.{table}' for table in tables)}")
    await admin.close()
    async with AsyncExitStack() as stack:
        yield Builder(schema=schema, stack=stack)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], Awaitable[bool] | bool], str], Awaitable[None]]:
    """Polling with a deadline."""
    return eventually


@pytest.fixture(scope="module")
def vhost_url(backing: Backing) -> Iterator[str]:
    """A virtual host nobody else talks on."""
    with virtual_host(backing.rabbitmq) as host:
        yield host.url
