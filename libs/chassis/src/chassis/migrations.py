"""Brings one service's schema up to date: any number of replicas may try at once, each service in its own schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, text

from chassis.database import open_engine

STATEMENT_TIMEOUT_SECONDS = 60
"""Also how long a replica waits for another one that is migrating."""

NAMING = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
"""Every constraint has a name, so that a later migration can speak of it."""


def schema_metadata(schema: str) -> MetaData:
    """Metadata for the tables of one service."""
    return MetaData(schema=schema, naming_convention=NAMING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """The migrations of one service: where they lie and the tables they should end up with."""

    metadata: MetaData
    package: Path

    @property
    def schema(self) -> str:
        """The service's schema."""
        if not self.metadata.schema:
            raise ValueError("migrations need metadata with a schema")
        return self.metadata.schema

    @property
    def directory(self) -> Path:
        """Beside the package in a wheel, beside `src` in a checkout."""
        installed = self.package / "migrations"
        return installed if installed.exists() else self.package.parents[1] / "migrations"

    async def upgrade(self, url: str) -> None:
        """Apply what is missing, in one transaction under an advisory lock."""
        await self._connected(url, self._upgrade)

    async def differences(self, url: str) -> Sequence[Any]:
        """What the migrated schema lacks or has too much compared with the tables; empty when they agree."""
        found: list[Any] = []

        def compare(connection: Connection) -> None:
            found.extend(compare_metadata(self._context(connection), self.metadata))

        await self._connected(url, compare)
        return found

    async def draft(self, url: str) -> str:
        """Python code for the body of a new migration, to be read and edited."""
        drafts: list[str] = []

        def render(connection: Connection) -> None:
            operations = produce_migrations(self._context(connection), self.metadata).upgrade_ops
            drafts.append(render_python_code(operations) if operations else "")

        await self._connected(url, render)
        return drafts[0]

    async def _connected(self, url: str, work: Any) -> None:
        name, patience = f"{self.schema}:migrate", STATEMENT_TIMEOUT_SECONDS + 5
        engine = open_engine(url, pool_size=1, name=name, command_timeout_seconds=patience)
        try:
            async with engine.begin() as connection:
                await connection.run_sync(work)
        finally:
            await engine.dispose()

    def _upgrade(self, connection: Connection) -> None:
        connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_SECONDS}s'"))
        connection.execute(text(f"SET LOCAL lock_timeout = '{STATEMENT_TIMEOUT_SECONDS}s'"))
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtext(:schema))"), {"schema": f"migrate:{self.schema}"}
        )
        connection.execute(text("SET LOCAL lock_timeout = '4s'"))
        config = Config()
        config.set_main_option("script_location", str(self.directory))
        script = ScriptDirectory.from_config(config)

        def to_head(revision: Any, context: MigrationContext) -> Any:
            return script._upgrade_revs("head", revision)

        with EnvironmentContext(config, script, fn=to_head) as environment:
            environment.configure(
                connection=connection, target_metadata=self.metadata, version_table_schema=self.schema
            )
            environment.run_migrations()

    def _context(self, connection: Connection) -> MigrationContext:
        options = {
            "include_schemas": True,
            "include_name": lambda name, kind, _parents: kind != "schema" or name == self.schema,
            "version_table_schema": self.schema,
            "compare_type": True,
        }
        return MigrationContext.configure(connection, opts=options)
