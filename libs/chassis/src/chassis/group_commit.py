"""Coalesces concurrent single writes into one transaction, so that many callers share one commit."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from chassis.database import Database, Transaction, UnavailableError
from chassis.spacing import Spacing

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    future: asyncio.Future[Result]


class GroupCommit(Generic[Item, Result]):
    """Callers `submit` one item each; `write` stores many at once and returns one result per item, in order.

    A caller resumes only after the commit that holds its own item. A result that is an exception is raised to its
    caller alone. If `write` raises, items are retried one by one, so that a poisoned item fails alone.
    Bounds: `size_max` items a commit, `linger_ms` of waiting for company, `waiting_max` callers in all. Under load
    commits begin `spacing_ms` apart, unless one is full.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[Transaction, Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        name: str = "group-commit",
        size_max: int = 200,
        linger_ms: float = 1,
        spacing_ms: float = 0,
        commits_max: int = 2,
        waiting_max: int = 20_000,
    ) -> None:
        self.name = name
        self._database, self._write = database, write
        self._size_max, self._linger_seconds = size_max, linger_ms / 1_000
        self._spacing = Spacing(spacing_ms / 1_000)
        self._commits_max, self._waiting_max = commits_max, waiting_max
        self._waiting: list[_Waiting[Item, Result]] = []
        self._commits: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def submit(self, item: Item) -> Result:
        """Store `item` together with whatever else is waiting; raises what went wrong with this very item."""
        if len(self._waiting) >= self._waiting_max:
            raise UnavailableError("too many writes are waiting")
        waiting = _Waiting[Item, Result](item, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._schedule()
        return await waiting.future

    def _schedule(self) -> None:
        if not self._waiting or len(self._commits) >= self._commits_max:
            return
        if len(self._waiting) >= self._size_max:
            self._commit()
        elif self._timer is None:
            pause_seconds = max(self._linger_seconds, self._spacing.pause_seconds())
            self._timer = asyncio.get_running_loop().call_later(pause_seconds, self._commit)

    def _commit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting or len(self._commits) >= self._commits_max:
            return
        batch, self._waiting = self._waiting[: self._size_max], self._waiting[self._size_max :]
        self._spacing.began(len(batch))
        task = asyncio.create_task(self._carry_out(batch), name=self.name)
        self._commits.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._commits.discard(task)
        if task.cancelled() and not self._waiting:
            return
        self._schedule()

    async def _carry_out(self, batch: list[_Waiting[Item, Result]]) -> None:
        batch = [waiting for waiting in batch if not waiting.future.cancelled()]
        try:
            await self._store(batch)
        except Exception as error:
            if len(batch) == 1 or isinstance(error, UnavailableError):
                _fail(batch, error)
            else:
                for waiting in batch:
                    await self._carry_out([waiting])
        except BaseException:
            _fail(batch, UnavailableError("stopped"))
            raise

    async def _store(self, batch: list[_Waiting[Item, Result]]) -> None:
        if not batch:
            return
        async with self._database.transaction() as tx:
            results = await self._write(tx, [waiting.item for waiting in batch])
        for waiting, result in zip(batch, results, strict=True):
            if waiting.future.done():
                continue
            if isinstance(result, Exception):
                waiting.future.set_exception(result)
            else:
                waiting.future.set_result(result)

    async def start(self) -> None:
        """Nothing to start: commits run when there is something to commit."""

    async def stop(self) -> None:
        """Commit what is still waiting."""
        while self._waiting or self._commits:
            self._commit()
            if self._commits:
                await asyncio.wait(self._commits)


def _fail(batch: Sequence[_Waiting[Item, Result]], error: Exception) -> None:
    for waiting in batch:
        if not waiting.future.done():
            waiting.future.set_exception(error)
