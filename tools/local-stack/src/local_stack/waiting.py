"""Waits for a condition with a deadline, so that nothing here sleeps for a guessed time."""

import time
from collections.abc import Callable


class DidNotHappen(RuntimeError):
    """Raised when a condition did not become true before its deadline."""


def wait_until(
    condition: Callable[[], bool], *, what: str, timeout_seconds: float, pause_seconds: float = 0.05
) -> None:
    """Poll `condition` until it holds; raise DidNotHappen naming `what` after `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() >= deadline:
            raise DidNotHappen(f"{what}: not within {timeout_seconds:g} s")
        time.sleep(pause_seconds)
