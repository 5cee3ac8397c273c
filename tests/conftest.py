"""The real servers of a test run: a PostgreSQL and a RabbitMQ, found or our own, opened when a test first asks."""

import contextlib
import importlib
import pkgutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import MetaData

from chassis.migrations import Migrations
from chassis.testing.template_database import TemplateDatabase, TestDatabase
from chassis.testing.virtual_host import VirtualHost, virtual_host
from local_stack.backing import Backing, open_backing

RUN_DIR = Path(__file__).resolve().parents[1] / ".run"
PACKAGES = ("api", "dispatcher", "status_ingest", "notifier", "reconciler")


def migrations_of(package: str) -> Migrations:
    """The migrations of a service; its tables are found in every module named `tables`."""
    service = importlib.import_module(package)
    for module in pkgutil.walk_packages(service.__path__, prefix=f"{package}."):
        if module.name.endswith(".tables"):
            importlib.import_module(module.name)
    tables = vars(importlib.import_module(f"{package}.tables"))
    metadata = next(value for value in tables.values() if isinstance(value, MetaData))
    return Migrations(metadata=metadata, package=Path(str(service.__file__)).parent)


@pytest.fixture(scope="session")
def backing() -> Iterator[Backing]:
    """Both servers; ours are stopped at the end."""
    with open_backing(RUN_DIR) as opened:
        yield opened


@pytest.fixture(scope="module")
def vhost(backing: Backing) -> Iterator[VirtualHost]:
    """A virtual host for one module: what is said there is heard by nobody else, and its handles are given back."""
    with virtual_host(backing.rabbitmq) as host:
        backing.instance.remember_workspace(host.name)
        yield host
    backing.instance.forget_workspace(host.name)


@pytest.fixture(scope="session")
async def template_database(backing: Backing) -> AsyncIterator[TemplateDatabase]:
    """All five services migrated, once."""
    template = TemplateDatabase(
        backing.postgres_admin_url,
        [migrations_of(package) for package in PACKAGES],
        created=backing.instance.remember_workspace,
        dropped=backing.instance.forget_workspace,
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(template.drop)
        await template.create()
        yield template


@pytest.fixture(scope="module")
async def module_database(template_database: TemplateDatabase) -> AsyncIterator[TestDatabase]:
    """A migrated database shared by the tests of one module."""
    copy = await template_database.copy()
    yield copy
    await template_database.discard(copy)


@pytest.fixture
async def database(template_database: TemplateDatabase) -> AsyncIterator[TestDatabase]:
    """A migrated database for one test."""
    copy = await template_database.copy()
    yield copy
    await template_database.discard(copy)


@pytest.fixture
async def empty_database(template_database: TemplateDatabase) -> AsyncIterator[TestDatabase]:
    """A database without schemas and roles."""
    bare = await template_database.empty()
    yield bare
    await template_database.discard(bare)
