"""Lets use cases that open their own transaction take part in one that is open already: all of it is one commit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from chassis.database import Database, Transaction


class JoinedDatabase(Database):
    """Given to a use case in place of the database: outside `together` it opens nothing and raises `RuntimeError`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._current: ContextVar[Transaction | None] = ContextVar("joined_transaction", default=None)

    @asynccontextmanager
    async def together(self) -> AsyncIterator[Transaction]:
        """The transaction that every `transaction()` within this block, and within this task, is a part of."""
        async with self._database.transaction() as tx:
            token = self._current.set(tx)
            try:
                yield tx
            finally:
                self._current.reset(token)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """The one that is open; it commits or rolls back as a whole, when `together` ends."""
        tx = self._current.get()
        if tx is None:
            raise RuntimeError("this work may only be done together with something else")
        yield tx
