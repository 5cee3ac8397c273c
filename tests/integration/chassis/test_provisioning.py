"""Roles: each service reaches its own schema and nothing else, whatever it tries."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from chassis.provisioning import provision
from chassis.testing.template_database import TemplateDatabase, TestDatabase

SCHEMAS = ("api", "dispatcher", "status_ingest", "notifier", "reconciler")


@pytest.fixture(params=SCHEMAS)
async def schema(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def connection(module_database: TestDatabase, schema: str) -> AsyncIterator["asyncpg.Connection"]:
    """As the service itself connects."""
    opened = await asyncpg.connect(module_database.url(schema), timeout=10)
    yield opened
    await opened.close()


async def refused(connection: "asyncpg.Connection", statement: str) -> bool:
    """Whether PostgreSQL forbids it; nothing it would have done stays."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return True
    finally:
        await transaction.rollback()
    return False


async def all_tables(connection: "asyncpg.Connection") -> list[tuple[str, str]]:
    rows = await connection.fetch(
        "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    return [(row["schemaname"], row["tablename"]) for row in rows]


async def test_a_service_works_in_its_own_schema(connection: "asyncpg.Connection", schema: str) -> None:
    own = [table for owner, table in await all_tables(connection) if owner == schema]
    assert "outbox" in own
    for table in own:
        assert not await refused(connection, f'SELECT * FROM "{schema}"."{table}"')
        assert await connection.fetchval("SELECT has_table_privilege($1, 'DELETE')", f'"{schema}"."{table}"')
    assert not await refused(connection, f'CREATE TABLE "{schema}".scratch (id int)')


async def test_a_service_touches_no_other_table(connection: "asyncpg.Connection", schema: str) -> None:
    others = [(owner, table) for owner, table in await all_tables(connection) if owner != schema]
    assert {owner for owner, _ in others} == set(SCHEMAS) - {schema}
    for owner, table in others:
        for statement in ("SELECT 1 FROM {}", "DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}", "LOCK TABLE {}"):
            assert await refused(connection, statement.format(f'"{owner}"."{table}"')), (owner, table, statement)


async def test_a_service_creates_nothing_elsewhere(
    connection: "asyncpg.Connection", module_database: TestDatabase, schema: str
) -> None:
    for other in {*SCHEMAS, "public"} - {schema}:
        assert await refused(connection, f'CREATE TABLE "{other}".intruder (id int)'), other
        assert await refused(connection, f'DROP SCHEMA "{other}" CASCADE'), other
    for statement in (
        "CREATE SCHEMA intruder",
        "CREATE TEMPORARY TABLE intruder (id int)",
        "CREATE ROLE intruder",
        f'CREATE EXTENSION pgcrypto SCHEMA "{schema}"',
        f'ALTER DATABASE "{module_database.name}" SET work_mem = 64',
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('/etc/hostname')",
    ):
        assert await refused(connection, statement), statement


async def test_a_service_becomes_nobody_else(
    connection: "asyncpg.Connection", module_database: TestDatabase, schema: str
) -> None:
    for other in set(SCHEMAS) - {schema}:
        assert await refused(connection, f'SET ROLE "{module_database.role(other)}"'), other
        assert await refused(connection, f'GRANT "{module_database.role(other)}" TO CURRENT_USER'), other
    row = await connection.fetchrow(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles"
        " WHERE rolname = current_user"
    )
    assert tuple(row.values()) == (False,) * 5
    memberships = (
        "SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = current_user"
    )
    assert await connection.fetchval(memberships) == 0


async def test_a_services_statements_and_waits_are_bounded(connection: "asyncpg.Connection") -> None:
    for setting in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        assert await connection.fetchval("SELECT current_setting($1)", setting) not in ("0", ""), setting
    assert await connection.fetchval("SHOW jit") == "off", "compiled plans cost more than any statement of ours"


async def test_provisioning_may_be_repeated_and_concurrent(empty_database: TestDatabase) -> None:
    wanted = [schema for schema in SCHEMAS for _ in range(3)]
    await asyncio.gather(
        *(
            provision(empty_database.admin_url, database_url=empty_database.url(schema), schema=schema)
            for schema in wanted
        )
    )
    for schema in SCHEMAS:
        connection = await asyncpg.connect(empty_database.url(schema), timeout=10)
        owner = "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = $1"
        assert await connection.fetchval(owner, schema) == empty_database.role(schema)
        await connection.close()


async def test_a_copy_of_the_template_is_as_closed_as_the_template(
    template_database: TemplateDatabase, module_database: TestDatabase
) -> None:
    connection = await asyncpg.connect(module_database.admin_url, timeout=10)
    rights = "SELECT datname, array_length(datacl, 1) FROM pg_database WHERE datname = ANY($1) ORDER BY 1"
    rows = await connection.fetch(rights, [template_database.database.name, module_database.name])
    await connection.close()
    assert len({row["array_length"] for row in rows}) == 1
    assert len(rows) == 2
