"""A key is replaced: whatever rests under the old one is sealed anew, and opens when the old one is gone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest
from tests.conftest import migrations_of

from chassis.command_line import Commands
from chassis.database import Database
from chassis.resealing import Resealing, report
from chassis.seal import KeyRing, UnknownKeyError, key_id_of
from chassis.sealed_columns import SealedColumn
from chassis.telemetry.metrics import registry
from chassis.testing.template_database import TemplateDatabase, TestDatabase

from .seeding import DECLARED, Tables

OLD_KEY, NEW_KEY = "2024-01:" + "b2xk" * 10 + "b2w=", "2025-01:" + "bmV3" * 10 + "bmU="
OLD, NEW = KeyRing.parse(OLD_KEY), KeyRing.parse(NEW_KEY)
ROTATING = KeyRing.parse(f"{NEW_KEY},{OLD_KEY}")
ROWS = 7


@pytest.fixture(scope="module")
async def place(template_database: TemplateDatabase) -> AsyncIterator[TestDatabase]:
    copy = await template_database.copy()
    yield copy
    await template_database.discard(copy)


@pytest.fixture(params=DECLARED)
async def tables(request: pytest.FixtureRequest, place: TestDatabase) -> Tables:
    """Each service in turn, with empty tables."""
    found = Tables(admin_url=place.admin_url, schema=request.param)
    await found.clear()
    return found


@pytest.fixture
async def database(tables: Tables, place: TestDatabase) -> AsyncIterator[Database]:
    """As the service's own role."""
    opened = Database(place.url(tables.schema), pool_size=3)
    yield opened
    await opened.stop()


def resealing(database: Database, tables: Tables, ring: KeyRing = ROTATING, *, bite: int = 3) -> Resealing:
    return Resealing(database=database, ring=ring, columns=tables.columns, bite=bite)


async def test_everything_opens_when_the_old_key_is_gone(database: Database, tables: Tables) -> None:
    planted = await tables.seed(OLD, rows=ROWS)
    with contextlib.suppress(UnknownKeyError):
        assert await tables.opened(NEW) != planted, "before, the new key alone opens nothing"
    work = resealing(database, tables)
    census = await work.whole_pass()
    assert census == {(column.name, "2025-01"): ROWS for column in tables.columns}
    assert await tables.opened(NEW) == planted
    sample = registry.get_sample_value(
        "pilot_sealed_rows", {"column": tables.columns[0].name, "key_id": NEW.active_key_id}
    )
    assert sample == ROWS
    before = await everything(tables)
    await work.whole_pass()
    assert await everything(tables) == before, "what is under the active key is not touched again"


async def everything(tables: Tables) -> list[str]:
    connection = await asyncpg.connect(tables.admin_url)
    try:
        return [
            row["line"]
            for column in tables.columns
            for row in await connection.fetch(f"SELECT t::text AS line FROM {column.table} AS t ORDER BY 1")
        ]
    finally:
        await connection.close()


async def test_a_crash_in_the_middle_costs_nothing_but_the_place(database: Database, tables: Tables) -> None:
    planted = await tables.seed(OLD, rows=ROWS)
    interrupted = resealing(database, tables)
    for _ in range(2):
        assert await interrupted.step() is True
    found = await tables.opened(ROTATING)
    assert found == planted, "half done, everything opens with both keys"
    await resealing(database, tables).whole_pass()
    assert await tables.opened(NEW) == planted


async def test_replicas_do_it_at_once(database: Database, tables: Tables) -> None:
    planted = await tables.seed(OLD, rows=ROWS)
    await asyncio.gather(*(resealing(database, tables).whole_pass() for _ in range(3)))
    assert await tables.opened(NEW) == planted


async def test_what_no_key_opens_is_counted_and_left(database: Database, tables: Tables) -> None:
    await tables.seed(OLD, rows=2)
    before = await everything(tables)
    census = await resealing(database, tables, NEW).whole_pass()
    assert census == {(column.name, "2024-01"): 2 for column in tables.columns}
    assert await everything(tables) == before
    assert "still in use beside 2025-01: 2024-01" in report(census, NEW)


@pytest.mark.parametrize("tables", ["dispatcher"], indirect=True)
async def test_writers_are_neither_overwritten_nor_waited_for(database: Database, tables: Tables) -> None:
    """A row that somebody holds is tried again; what is written meanwhile is not undone."""
    await tables.seed(OLD, rows=ROWS)
    writer = await asyncpg.connect(tables.admin_url)
    try:
        held = writer.transaction()
        await held.start()
        held_id = await writer.fetchval("SELECT message_id FROM dispatcher.jobs LIMIT 1 FOR UPDATE")
        work = asyncio.create_task(resealing(database, tables, bite=100).whole_pass())
        await asyncio.sleep(0.2)
        fresh = ROTATING.seal(b"written meanwhile", aad=held_id.bytes)
        await writer.execute("UPDATE dispatcher.jobs SET sealed = $2 WHERE message_id = $1", held_id, fresh)
        await held.commit()
        census = await work
        assert await writer.fetchval("SELECT sealed FROM dispatcher.jobs WHERE message_id = $1", held_id) == fresh
        assert census["jobs.sealed", "2025-01"] == ROWS
        sealed = await writer.fetch("SELECT message_id, sealed FROM dispatcher.jobs")
        assert {key_id_of(row["sealed"]) for row in sealed} == {"2025-01"}
        opened = {NEW.open(row["sealed"], aad=UUID(str(row["message_id"])).bytes) for row in sealed}
        assert len(opened) == ROWS
    finally:
        await writer.close()


@pytest.mark.parametrize("tables", ["dispatcher"], indirect=True)
async def test_the_command_does_it_and_says_when_the_old_key_may_go(
    tables: Tables, place: TestDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = await tables.seed(OLD, rows=2)
    monkeypatch.setenv("DATABASE_URL", place.url("dispatcher"))
    monkeypatch.setenv("BROKER_URL", "amqp://nobody@127.0.0.1:9/")
    monkeypatch.setenv("SEAL_KEYS", f"{NEW_KEY},{OLD_KEY}")
    commands = Commands(
        service="dispatcher", serve=nothing, migrations=migrations_of("dispatcher"), sealed=tables.columns
    )
    assert await commands.seals() == 1
    assert "still in use beside 2025-01: 2024-01" in capsys.readouterr().out
    assert await tables.opened(OLD) == planted, "looking changes nothing"
    assert await commands.reseal() == 0
    assert "all under 2025-01" in capsys.readouterr().out
    assert await tables.opened(NEW) == planted
    monkeypatch.setenv("SEAL_KEYS", NEW_KEY)
    assert await commands.seals() == 0


async def nothing() -> int:
    raise AssertionError("nobody serves here")


@pytest.mark.parametrize("package", DECLARED)
def test_every_sealed_column_is_declared(package: str) -> None:
    metadata = migrations_of(package).metadata
    named = {
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if "sealed" in column.name
    }
    declared: list[SealedColumn] = [*DECLARED[package]]
    assert named <= {column.name for column in declared}
    assert "outbox.body" in {column.name for column in declared}
