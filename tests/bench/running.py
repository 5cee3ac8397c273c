"""Runs a bench on the event loop that the services run on."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Its result, from a fresh uvloop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
