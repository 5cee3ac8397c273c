"""Takes a database apart and puts it together again from a dump, as it is done after a disaster."""

import asyncio
import io
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

SECONDS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDump:
    """The rows of every table of some schemas, of one instant. A restore replaces what is there."""

    url: str
    rows: dict[str, bytes] = field(repr=False)

    @classmethod
    def take(cls, url: str, schemas: Sequence[str]) -> "TableDump":
        return cls(url=url, rows=asyncio.run(_copy_out(url, schemas)))

    def restore(self) -> None:
        asyncio.run(_copy_in(self.url, self.rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDump:
    """What `pg_dump` makes of some schemas. A restore drops them and has `pg_restore` make them anew."""

    url: str
    schemas: Sequence[str]
    path: Path

    @classmethod
    def take(cls, url: str, schemas: Sequence[str], path: Path) -> "FileDump":
        chosen = [f"--schema={schema}" for schema in schemas]
        _run("pg_dump", "--format=custom", f"--file={path}", *chosen, f"--dbname={url}")
        return cls(url=url, schemas=schemas, path=path)

    def lose(self) -> None:
        """Everything in these schemas is gone."""
        asyncio.run(_execute(self.url, *(f"DROP SCHEMA {schema} CASCADE" for schema in self.schemas)))

    def restore(self) -> None:
        _run("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={self.url}", str(self.path))


def can_dump() -> bool:
    """Whether the server's own tools are here."""
    return all(shutil.which(name) for name in ("pg_dump", "pg_restore"))


async def _copy_out(url: str, schemas: Sequence[str]) -> dict[str, bytes]:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            found = await connection.fetch(
                "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1, 2", list(schemas)
            )
            rows: dict[str, bytes] = {}
            for schema, table in found:
                sink = io.BytesIO()
                await connection.copy_from_table(table, schema_name=schema, output=sink, format="binary")
                rows[f"{schema}.{table}"] = sink.getvalue()
            return rows
    finally:
        await connection.close()


async def _copy_in(url: str, rows: dict[str, bytes]) -> None:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(f"TRUNCATE {', '.join(rows)}")
            for name, content in rows.items():
                schema, table = name.split(".")
                source = io.BytesIO(content)
                await connection.copy_to_table(table, schema_name=schema, source=source, format="binary")
    finally:
        await connection.close()


async def _execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def _run(*command: str) -> None:
    done = subprocess.run(
        command, check=False, timeout=SECONDS_MAX, capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-2_000:]
