"""Decides what becomes of a delivery whose handler did not succeed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ValidationError

from chassis.amqp import was_cancelled_by_us
from chassis.outages import is_outage
from contracts.registry import UnreadableError

UNREADABLE_ERRORS = (UnreadableError, ValidationError)


class Outcome(StrEnum):
    """What came of one delivery; also the label of its metric."""

    DONE = "done"
    UNREADABLE = "unreadable"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """The outcome of one handler call, with the error if it failed."""

    outcome: Outcome
    error: Exception | None = None


DONE = Attempted(outcome=Outcome.DONE)
UNAVAILABLE = Attempted(outcome=Outcome.UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivery:
    """How long to wait for what, in seconds.

    `patience_seconds` must stay well below the broker's acknowledgement timeout (30 minutes by default).
    """

    wait_first_seconds: float = 0.1
    wait_max_seconds: float = 5.0
    patience_seconds: float = 600.0
    pause_first_seconds: float = 0.2
    pause_max_seconds: float = 10.0

    def wait_seconds(self, attempts: int) -> float:
        """Before trying again while something is unavailable; `attempts` counts the failed ones from 1."""
        return doubled(self.wait_first_seconds, attempts - 1, self.wait_max_seconds)

    def pause_seconds(self, delivery_count: int) -> float:
        """Before a failed delivery goes back to its queue for the next of its limited deliveries."""
        return doubled(self.pause_first_seconds, delivery_count, self.pause_max_seconds)


def doubled(first_seconds: float, times: int, max_seconds: float) -> float:
    """`first_seconds` doubled `times` times, capped."""
    return min(max_seconds, first_seconds * float(2 ** min(max(times, 0), 32)))


async def attempt(work: Callable[[], Awaitable[None]], redelivery: Redelivery, closing: asyncio.Event) -> Attempted:
    """Call a handler until it is done, fails for good, or patience ends; trouble spends no delivery.

    The delivery stays unacknowledged meanwhile, so a full prefetch window stops consumption by itself.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + redelivery.patience_seconds
    attempts = 0
    while True:
        try:
            await work()
        except asyncio.CancelledError:
            if was_cancelled_by_us():
                raise
        except Exception as error:
            if not is_outage(error):
                return Attempted(outcome=Outcome.FAILED, error=error)
        else:
            return DONE
        attempts += 1
        pause = redelivery.wait_seconds(attempts)
        if loop.time() + pause > give_up_at or await interrupted(closing, pause):
            return UNAVAILABLE


async def interrupted(closing: asyncio.Event, seconds: float) -> bool:
    """Wait; True at once when closing begins, False when the time is over."""
    try:
        async with asyncio.timeout(seconds):
            return await closing.wait()
    except TimeoutError:
        return False
