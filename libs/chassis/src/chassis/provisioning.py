"""Creates a service's own role and schema: a role that may touch nothing else."""

from urllib.parse import unquote, urlsplit

import asyncpg

ROLE_SETTINGS = {
    "statement_timeout": "'10s'",
    "lock_timeout": "'3s'",
    "idle_in_transaction_session_timeout": "'15s'",
    "jit": "off",
}
"""Every wait is bounded. Compiling a plan takes longer than any statement here: a claim among a million, 20 times."""


async def provision(admin_url: str, *, database_url: str, schema: str) -> None:
    """Make sure that the role of `database_url` exists and owns `schema`; harmless when repeated or concurrent."""
    address = urlsplit(database_url)
    role, password = unquote(address.username or ""), unquote(address.password or "")
    if not role:
        raise ValueError("DATABASE_URL names no user, so there is no role to create")
    connection = await asyncpg.connect(admin_url.replace("+asyncpg", "", 1), timeout=10, command_timeout=30)
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext('provision'))")
            for statement in await _statements(connection, role=role, password=password, schema=schema):
                await connection.execute(statement)
    finally:
        await connection.close()


async def _statements(connection: asyncpg.Connection, *, role: str, password: str, schema: str) -> list[str]:
    exists = await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role)
    database = _name(await connection.fetchval("SELECT current_database()"))
    verb = "ALTER" if exists else "CREATE"
    name, owned = _name(role), _name(schema)
    return [
        f"{verb} ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {_literal(password)}",
        *(f"ALTER ROLE {name} SET {setting} = {value}" for setting, value in ROLE_SETTINGS.items()),
        f"REVOKE ALL ON DATABASE {database} FROM PUBLIC",
        f"GRANT CONNECT ON DATABASE {database} TO {name}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        f"GRANT {name} TO CURRENT_USER",
        f"CREATE SCHEMA IF NOT EXISTS {owned} AUTHORIZATION {name}",
        f"ALTER SCHEMA {owned} OWNER TO {name}",
    ]


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _literal(value: str) -> str:
    if "\\" in value or "\0" in value:
        raise ValueError("the database password may not contain a backslash or NUL")
    return "'" + value.replace("'", "''") + "'"
