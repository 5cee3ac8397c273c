"""Lets plain functions call asynchronous clients whether or not an event loop is already running."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_blocking(work: Coroutine[Any, Any, Result], *, timeout_seconds: float = 30.0) -> Result:
    """Run `work` on a loop of its own in a short-lived thread and return its result, or raise what it raised."""
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(asyncio.run(_bounded(work, timeout_seconds)))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="run-blocking", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


async def _bounded(work: Coroutine[Any, Any, Result], timeout_seconds: float) -> Result:
    async with asyncio.timeout(timeout_seconds):
        return await work
