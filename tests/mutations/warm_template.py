"""The databases of all runs are copies of one template that is migrated once; a pytest plugin makes runs use it.

Migrations are nothing that mutations touch, and they are half of what one run of integration tests costs.
"""

import asyncio
import contextlib
import itertools
import os
from collections.abc import Iterator

import asyncpg

from chassis.testing.template_database import TemplateDatabase

VARIABLE = "PILOT_MUTATIONS_TEMPLATE"
COPIES_OF_A_RUN_MAX = 1_000


@contextlib.contextmanager
def warm_template(template: TemplateDatabase, admin_url: str) -> Iterator[str]:
    """What `VARIABLE` must be for the runs within this block; what they leave behind goes with the template."""
    asyncio.run(template.create())
    mark = template.database.name.rpartition("_")[2]
    try:
        yield f"{mark}:{template.database.password}"
    finally:
        asyncio.run(_drop_copies(admin_url, mark))
        asyncio.run(template.drop())


async def _drop_copies(admin_url: str, mark: str) -> None:
    connection = await asyncpg.connect(admin_url, timeout=10)
    try:
        names = await connection.fetch(
            "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", f"pilot_copy_{mark}_"
        )
        for row in names:
            await connection.execute(f'DROP DATABASE IF EXISTS "{row["datname"]}" WITH (FORCE)')
    finally:
        await connection.close()


def pytest_configure() -> None:
    """Template databases of this run stand for the one that exists already, and leave it standing."""
    given = os.environ.get(VARIABLE)
    if not given:
        return
    mark, password = given.split(":")

    async def adopt(self: TemplateDatabase) -> None:
        self._mark, self._numbers = mark, itertools.count(os.getpid() * COPIES_OF_A_RUN_MAX)
        self.database = self._named(f"pilot_test_{mark}", password=password)

    async def leave(self: TemplateDatabase) -> None:
        for copy in tuple(self._copies):
            await self.discard(copy)

    TemplateDatabase.create = adopt  # type: ignore[method-assign]
    TemplateDatabase.drop = leave  # type: ignore[method-assign]
