"""Creates and drops the databases and roles that a run calls its own."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

from local_stack.blocking import run_blocking

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresSeen:
    """What a server told about itself and about the role we came with."""

    version: int
    may_create_databases: bool
    may_create_roles: bool


def look_at(admin_url: str) -> PostgresSeen:
    """Connect and ask; raises what asyncpg or the operating system raises when that fails."""
    return run_blocking(_look_at(admin_url), timeout_seconds=10)


def create_database(admin_url: str, name: str, *, template: str = "template1") -> None:
    run_blocking(_execute(admin_url, f"CREATE DATABASE {_known(name)} TEMPLATE {_known(template)}"), timeout_seconds=60)


def drop_database(admin_url: str, name: str) -> None:
    """Drop it even while somebody is connected; a database that is not there is fine."""
    run_blocking(_execute(admin_url, f"DROP DATABASE IF EXISTS {_known(name)} WITH (FORCE)"), timeout_seconds=60)


def list_roles(admin_url: str, prefix: str) -> list[str]:
    return run_blocking(_list_roles(admin_url, prefix))


def drop_roles(admin_url: str, prefix: str) -> None:
    """Drop every role whose name starts with `prefix`; their database must be gone already."""
    for role in list_roles(admin_url, prefix):
        run_blocking(_execute(admin_url, f"DROP ROLE IF EXISTS {_known(role)}"))


def with_database(url: str, name: str) -> str:
    """The same server and user, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def with_login(url: str, *, user: str, password: str) -> str:
    """The same server, another user; a server reached through its unix socket is addressed by TCP on loopback."""
    parts = urlsplit(url)
    address = f"{parts.hostname or '127.0.0.1'}:{parts.port or 5432}"
    netloc = f"{quote(user, safe='')}:{quote(password, safe='')}@{address}"
    return urlunsplit(parts._replace(netloc=netloc, query=""))


def _known(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a plain lower-case name: {name!r}")
    return f'"{name}"'


async def _look_at(admin_url: str) -> PostgresSeen:
    connection = await asyncpg.connect(admin_url, timeout=_CONNECT_SECONDS)
    try:
        row = await connection.fetchrow(
            "SELECT current_setting('server_version_num')::int AS version, rolsuper, rolcreatedb, rolcreaterole"
            " FROM pg_roles WHERE rolname = current_user"
        )
    finally:
        await connection.close()
    return PostgresSeen(
        version=row["version"] // 10_000,
        may_create_databases=row["rolsuper"] or row["rolcreatedb"],
        may_create_roles=row["rolsuper"] or row["rolcreaterole"],
    )


async def _execute(admin_url: str, statement: str) -> None:
    connection = await asyncpg.connect(admin_url, timeout=_CONNECT_SECONDS)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def _list_roles(admin_url: str, prefix: str) -> list[str]:
    connection = await asyncpg.connect(admin_url, timeout=_CONNECT_SECONDS)
    try:
        rows = await connection.fetch(
            "SELECT rolname FROM pg_roles WHERE starts_with(rolname, $1) ORDER BY rolname", prefix
        )
    finally:
        await connection.close()
    return [row["rolname"] for row in rows]
