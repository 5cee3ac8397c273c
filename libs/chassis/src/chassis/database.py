"""The only place that opens and commits transactions: rows and the statements about them leave together."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import CursorResult, Executable, Table, TextClause, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from chassis.outbox import Closing, insert_outgoing, outgoing_columns
from contracts.statement import Statement

TRANSIENT_SQLSTATES = ("08", "40", "53", "55P03", "57")
"""Connection trouble, serialization, deadlock, no resources, lock timeout, shutdown, cancel (PostgreSQL appendix A)."""


class UnavailableError(Exception):
    """The database cannot do it now; the same work may succeed later."""


class Transaction:
    """One open transaction. Statements said in it are stored in the outbox when it commits, in one round trip."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._emitted: list[Statement] = []
        self._closing: tuple[Closing, Mapping[str, Any]] | None = None

    async def execute(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """Run one SQL statement, or one per element of a sequence of parameters."""
        return await self._connection.execute(statement, parameters)

    def emit(self, *statements: Statement) -> None:
        """Say something: it is published if, and only if, this transaction commits."""
        self._emitted.extend(statements)

    def close_with(self, closing: Closing, parameters: Mapping[str, Any]) -> None:
        """Run `closing` as the last statement, in one round trip with storing what was said; one for a transaction."""
        if self._closing is not None:
            raise RuntimeError("a transaction is closed with one statement")
        self._closing = closing, parameters

    @property
    def emitted(self) -> Sequence[Statement]:
        """What was said so far."""
        return self._emitted

    @property
    def closing(self) -> tuple[Closing, Mapping[str, Any]] | None:
        """What is still to be run before the commit, with its parameters."""
        return self._closing


class Database:
    """A connection pool and the transactions on it, for one service's schema."""

    def __init__(self, url: str, *, outbox: Table | None = None, pool_size: int = 10, name: str = "service") -> None:
        self._outbox = outbox
        self._last_statements: dict[Closing | None, TextClause] = {}
        self._wake: Callable[[], None] | None = None
        self.engine = open_engine(url, pool_size=pool_size, name=name)

    def wake_on_commit(self, wake: Callable[[], None]) -> None:
        """Call `wake` after every commit that stored statements; without it other processes are notified in SQL."""
        self._wake = wake

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Commits on a clean exit, rolls back on an exception; raises `UnavailableError` for passing trouble."""
        try:
            async with self.engine.connect() as connection:
                transaction = Transaction(connection)
                yield transaction
                await self._close(transaction, connection)
                await connection.commit()
        except (DBAPIError, PoolTimeoutError, OSError, TimeoutError) as error:
            if is_transient(error):
                raise UnavailableError(type(error).__name__) from error
            raise
        if transaction.emitted and self._wake:
            self._wake()

    async def _close(self, transaction: Transaction, connection: AsyncConnection) -> None:
        """Run what was put off to the end: one statement, which is its own transaction if nothing went before it."""
        emitted = bool(transaction.emitted)
        if not emitted and transaction.closing is None:
            return
        tells = emitted and self._wake is None
        if not connection.in_transaction() and not tells:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
        closing, given = transaction.closing or (None, {})
        said = outgoing_columns(transaction.emitted) if emitted else {}
        await connection.execute(self._last_statement(closing, emitted=emitted), {**said, **given})
        if tells and self._outbox is not None:
            await connection.execute(text("SELECT pg_notify(:channel, '')"), {"channel": notify_channel(self._outbox)})

    def _last_statement(self, closing: Closing | None, *, emitted: bool) -> TextClause:
        if closing is not None and not emitted:
            return closing.statement()
        if self._outbox is None:
            raise RuntimeError("this database has no outbox to speak through")
        if closing not in self._last_statements:
            self._last_statements[closing] = insert_outgoing(self._outbox, closing=closing)
        return self._last_statements[closing]

    async def problem(self) -> str | None:
        """A health check: None if a trivial query answers."""
        try:
            async with self.transaction() as tx:
                await tx.execute(text("SELECT 1"))
        except UnavailableError as error:
            return f"database: {error}"
        return None

    @property
    def name(self) -> str:
        """For the runner."""
        return "database"

    async def start(self) -> None:
        """Connections open on first use, so a service may start before its database."""

    async def stop(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


def open_engine(url: str, *, pool_size: int, name: str, command_timeout_seconds: float = 15) -> AsyncEngine:
    """An asyncpg engine with every wait bounded; `url` may use the plain `postgresql://` scheme."""
    return create_async_engine(
        async_url(url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=5,
        connect_args={
            "timeout": 5,
            "command_timeout": command_timeout_seconds,
            "server_settings": {"application_name": name},
        },
    )


def async_url(url: str) -> str:
    """The same address for SQLAlchemy's asyncpg driver."""
    scheme, _, rest = url.partition("://")
    return f"postgresql+asyncpg://{rest}" if scheme in ("postgres", "postgresql") else url


def notify_channel(outbox: Table) -> str:
    """The NOTIFY channel of one schema's outbox."""
    return f"outbox_{outbox.schema}"


def is_transient(error: BaseException) -> bool:
    """True for trouble that passes by itself: connection loss, shutdown, deadlock, timeouts, exhaustion."""
    if not isinstance(error, DBAPIError):
        return isinstance(error, PoolTimeoutError | OSError | TimeoutError)
    if error.connection_invalidated:
        return True
    sqlstate = getattr(error.orig, "sqlstate", None)
    if sqlstate is None:
        return "connection" in str(error.orig).lower()
    return any(str(sqlstate).startswith(prefix) for prefix in TRANSIENT_SQLSTATES)
