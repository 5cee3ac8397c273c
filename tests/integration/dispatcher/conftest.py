"""A database of our own with the dispatcher's schema, and replicas standing on it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

import dispatcher
from chassis.migrations import Migrations
from chassis.provisioning import provision
from dispatcher.tables import metadata

from .gateway import Gateway
from .rig import Now, Rig

SERVER = "127.0.0.1:5432"
ADMIN_URL = f"postgresql://postgres@{SERVER}/postgres"
MIGRATIONS = Migrations(metadata=metadata, package=Path(dispatcher.__file__).parent)


@pytest.fixture(scope="session")
async def schema_url() -> AsyncIterator[str]:
    """A fresh database, provisioned and migrated by the chassis, dropped with its role at the end."""
    name = f"pilot_it_{uuid4().hex[:12]}"
    role = f"{name}_dispatcher"
    admin = await asyncpg.connect(ADMIN_URL)
    try:
        await admin.execute(f'CREATE DATABASE "{name}"')
        url = f"postgresql://{role}:secret@{SERVER}/{name}"
        await provision(f"postgresql://postgres@{SERVER}/{name}", database_url=url, schema="dispatcher")
        await MIGRATIONS.upgrade(url)
        yield url
    finally:
        await admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        await admin.execute(f'DROP ROLE IF EXISTS "{role}"')
        await admin.close()


@pytest.fixture
async def build(schema_url: str) -> AsyncIterator[Callable[..., Awaitable[Rig]]]:
    """Replicas on the same, at first empty tables, with one clock and one gateway."""
    now = Now()
    gateway = Gateway(now)
    async with AsyncExitStack() as stack:

        async def replica(**options: object) -> Rig:
            rig = Rig(schema_url, now, gateway, **options)  # type: ignore[arg-type]
            stack.push_async_callback(rig.database.stop)
            return rig

        await (await replica()).clear()
        yield replica


@pytest.fixture
async def rig(build: Callable[..., Awaitable[Rig]]) -> Rig:
    """One replica."""
    return await build()
