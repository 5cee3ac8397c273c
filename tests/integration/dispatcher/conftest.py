"""A database of our own with the dispatcher's schema, and replicas standing on it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from chassis.testing.template_database import TemplateDatabase

from .gateway import Gateway
from .rig import Now, Rig


@pytest.fixture(scope="session")
async def schema_url(template_database: TemplateDatabase) -> AsyncIterator[str]:
    """The dispatcher's schema in a database of its own."""
    copy = await template_database.copy()
    yield copy.url("dispatcher")
    await template_database.discard(copy)


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
