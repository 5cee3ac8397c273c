"""Migrations: any number of replicas may start at once, and what they build is what the tables say."""

import asyncio
import sys
from collections.abc import Mapping

import asyncpg
import pytest

from chassis.testing.template_database import TemplateDatabase, TestDatabase

SERVICES = ("api", "dispatcher", "status_ingest", "notifier", "reconciler")


async def command(package: str, name: str, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """Run `python -m <package> <name>`; its exit code and everything it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        package,
        name,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return process.returncode, output.decode()


async def tables(database: TestDatabase, schema: str) -> set[str]:
    connection = await asyncpg.connect(database.admin_url)
    try:
        rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
    finally:
        await connection.close()
    return {row["tablename"] for row in rows}


async def test_replicas_that_start_at_once_all_succeed(empty_database: TestDatabase) -> None:
    environment = {"DATABASE_URL": empty_database.url("api"), "DATABASE_ADMIN_URL": empty_database.admin_url}
    results = await asyncio.gather(*(command("api", "migrate", environment) for _ in range(4)))
    assert results == [(0, "")] * 4
    assert {"alembic_version", "messages", "outbox", "inbox"} <= await tables(empty_database, "api")
    assert await tables(empty_database, "public") == set()
    assert await command("api", "check", {"DATABASE_URL": empty_database.url("api")}) == (0, "")


async def test_check_names_what_differs(database: TestDatabase) -> None:
    connection = await asyncpg.connect(database.url("api"))
    await connection.execute("ALTER TABLE api.messages DROP COLUMN urgent")
    await connection.close()
    code, output = await command("api", "check", {"DATABASE_URL": database.url("api")})
    assert code == 1
    assert "urgent" in output


@pytest.mark.parametrize("schema", SERVICES)
async def test_every_services_migrations_build_its_tables(
    template_database: TemplateDatabase, database: TestDatabase, schema: str
) -> None:
    migrations = template_database.migrations(schema)
    assert await migrations.differences(database.url(schema)) == []
    expected = {table.name for table in migrations.metadata.sorted_tables}
    assert await tables(database, schema) == expected | {"alembic_version"}
    await migrations.upgrade(database.url(schema))


async def test_a_command_without_its_settings_says_which(empty_database: TestDatabase) -> None:
    code, output = await command("api", "migrate", {})
    assert code == 2
    assert "DATABASE_URL is missing" in output
