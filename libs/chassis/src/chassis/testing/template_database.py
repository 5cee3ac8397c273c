"""Migrates every service once per test run and hands out copies of the result, so that tests start clean and fast."""

import itertools
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

from chassis.migrations import Migrations
from chassis.provisioning import provision

_STATEMENT_TIMEOUT_SECONDS = 60


def _ignore(name: str) -> None:
    """For a caller that keeps no list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestDatabase:
    """One database with every service's schema and each service's own role."""

    __test__ = False

    name: str
    admin_url: str
    roles: str
    """The names of the roles are this, an underscore and the schema."""
    password: str = field(repr=False)

    def role(self, schema: str) -> str:
        """The role that owns `schema`."""
        return f"{self.roles}_{schema}"

    def url(self, schema: str) -> str:
        """How the service that owns `schema` reaches this database."""
        parts = urlsplit(self.admin_url)
        address = f"{parts.hostname or '127.0.0.1'}:{parts.port or 5432}"
        login = f"{quote(self.role(schema), safe='')}:{quote(self.password, safe='')}"
        return urlunsplit(parts._replace(netloc=f"{login}@{address}", query=""))


class TemplateDatabase:
    """`pilot_test_<8 hex>` with its roles; copies are `pilot_copy_<8 hex>_<n>`. All of them are dropped by us.

    `created` and `dropped` are told every name, for whoever cleans up after a run that was killed.
    """

    def __init__(
        self,
        admin_url: str,
        migrations: Sequence[Migrations],
        *,
        created: Callable[[str], None] = _ignore,
        dropped: Callable[[str], None] = _ignore,
    ) -> None:
        self._admin_url, self._migrations = admin_url, tuple(migrations)
        self._created, self._dropped = created, dropped
        self._mark = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._copies: list[TestDatabase] = []
        self.database = self._named(f"pilot_test_{self._mark}", password=secrets.token_urlsafe(12))

    @property
    def schemas(self) -> tuple[str, ...]:
        """Every schema there is."""
        return tuple(migrations.schema for migrations in self._migrations)

    def migrations(self, schema: str) -> Migrations:
        """The migrations that built `schema`."""
        return next(migrations for migrations in self._migrations if migrations.schema == schema)

    async def create(self) -> None:
        """Create the template, its roles and schemas, migrated one by one: Alembic's context is global."""
        await self._create_database(self.database.name, template="template1")
        for migrations in self._migrations:
            url = self.database.url(migrations.schema)
            await provision(self.database.admin_url, database_url=url, schema=migrations.schema)
            await migrations.upgrade(url)

    async def copy(self) -> TestDatabase:
        """A new database as it was right after migrating; nobody may be connected to the template."""
        copy = self._named(f"pilot_copy_{self._mark}_{next(self._numbers)}", password=self.database.password)
        await self._create_database(copy.name, template=self.database.name)
        self._copies.append(copy)
        await self._execute(self._grants(copy.name))
        return copy

    async def empty(self) -> TestDatabase:
        """A new database without anything in it, and names for roles that do not exist yet."""
        bare = self._named(f"pilot_copy_{self._mark}_{next(self._numbers)}", password=secrets.token_urlsafe(12))
        bare = TestDatabase(name=bare.name, admin_url=bare.admin_url, roles=bare.name, password=bare.password)
        await self._create_database(bare.name, template="template1")
        self._copies.append(bare)
        return bare

    async def discard(self, copy: TestDatabase) -> None:
        """Drop one copy early, and the roles that are its own."""
        await self._drop_database(copy.name)
        if copy.roles == copy.name:
            await self._drop_roles(copy.roles)
        self._copies.remove(copy)

    async def drop(self) -> None:
        """Drop the copies, the template and the roles."""
        for copy in tuple(self._copies):
            await self.discard(copy)
        await self._drop_database(self.database.name)
        await self._drop_roles(self.database.roles)

    def _named(self, name: str, *, password: str) -> TestDatabase:
        admin_url = urlunsplit(urlsplit(self._admin_url)._replace(path=f"/{name}"))
        return TestDatabase(name=name, admin_url=admin_url, roles=f"pilot_test_{self._mark}", password=password)

    def _grants(self, name: str) -> Sequence[str]:
        """A copy does not inherit the rights on its template, only what is inside."""
        roles = ", ".join(f'"{self.database.role(schema)}"' for schema in self.schemas)
        return (f'REVOKE ALL ON DATABASE "{name}" FROM PUBLIC', f'GRANT CONNECT ON DATABASE "{name}" TO {roles}')

    async def _create_database(self, name: str, *, template: str) -> None:
        self._created(name)
        await self._execute([f'CREATE DATABASE "{name}" TEMPLATE "{template}"'])

    async def _drop_database(self, name: str) -> None:
        await self._execute([f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'])
        self._dropped(name)

    async def _drop_roles(self, prefix: str) -> None:
        connection = await asyncpg.connect(self._admin_url, timeout=10)
        try:
            rows = await connection.fetch("SELECT rolname FROM pg_roles WHERE starts_with(rolname, $1)", f"{prefix}_")
        finally:
            await connection.close()
        await self._execute([f'DROP ROLE IF EXISTS "{row["rolname"]}"' for row in rows])

    async def _execute(self, statements: Sequence[str]) -> None:
        connection = await asyncpg.connect(self._admin_url, timeout=10, command_timeout=_STATEMENT_TIMEOUT_SECONDS)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()
