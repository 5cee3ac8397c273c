"""Waits for what must come true, with a deadline instead of a guess."""

import asyncio
from collections.abc import Awaitable, Callable

WAIT_SECONDS = 20.0


async def eventually(
    condition: Callable[[], Awaitable[bool] | bool], what: str, *, timeout_seconds: float = WAIT_SECONDS
) -> None:
    """Poll until true; raises `AssertionError` naming `what` at the deadline."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_seconds
    while True:
        result = condition()
        if result if isinstance(result, bool) else await result:
            return
        if loop.time() > deadline:
            raise AssertionError(f"not within {timeout_seconds:g} s: {what}")
        await asyncio.sleep(0.02)
