"""Ends a process at a chosen suspension of whatever runs on its event loop, without the code under test knowing."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Side(StrEnum):
    """When the process dies: right after it suspended, or when what it waited for has come and before it goes on."""

    SUSPENDED = "suspended"
    RESUMED = "resumed"


@dataclass(slots=True)
class Bomb:
    """Counts suspensions of all tasks together, from 1; at `at` the process is gone as if by SIGKILL from outside."""

    at: int
    side: Side
    steps: int = 0

    def install(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tasks created from now on are counted."""
        loop.set_task_factory(self._task)

    def _task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> "asyncio.Task[Any]":
        return asyncio.Task(Counted(coro, self), loop=loop, **options)

    def suspended(self) -> int:
        """One more; its number."""
        self.steps += 1
        self._end(self.steps, Side.SUSPENDED)
        return self.steps

    def resumed(self, step: int) -> None:
        """That one goes on."""
        self._end(step, Side.RESUMED)

    def _end(self, step: int, side: Side) -> None:
        if step == self.at and side is self.side:
            os.kill(os.getpid(), signal.SIGKILL)


class Counted(Coroutine[Any, Any, Any]):
    """A coroutine whose suspensions are counted."""

    def __init__(self, inner: Coroutine[Any, Any, Any], bomb: Bomb) -> None:
        self._inner, self._bomb, self._step = inner, bomb, 0

    def send(self, value: Any) -> Any:
        if self._step:
            self._bomb.resumed(self._step)
        waited_for = self._inner.send(value)
        self._step = self._bomb.suspended()
        return waited_for

    def throw(self, *error: Any) -> Any:
        waited_for = self._inner.throw(*error)
        self._step = self._bomb.suspended()
        return waited_for

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
