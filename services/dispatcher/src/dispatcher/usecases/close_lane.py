"""A number is removed: its lane ends, and what was never sent over it fails, a bounded chunk at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from chassis.database import Database
from contracts.facts import NumberRemoved
from dispatcher.store import removal
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.fail_expired import end_failed
from dispatcher.usecases.measures import NUMBER_REMOVED

CHUNK = 500
DRAIN = timedelta(minutes=10)
"""How long the queue of a removed number is consumed yet; what comes later is found by the reconciler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseLane:
    """Nothing is claimed and nobody probes from this commit on; a call under way ends as calls do."""

    database: Database
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self, fact: NumberRemoved) -> None:
        """The newest version wins, in whatever order removal and configuration come."""
        async with self.database.transaction() as tx:
            await removal.remove(tx, fact, now=given(self.clock))
        self.wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailWaiting:
    """Fail what waits in removed lanes, whenever it came there: taken in late, or back from an attempt."""

    database: Database
    clock: Clock = None

    async def __call__(self) -> bool:
        """One chunk and its facts in one commit; True if there may be more."""
        async with self.database.transaction() as tx:
            doomed = await removal.fail_waiting(tx, limit=CHUNK, now=given(self.clock))
            await end_failed(tx, doomed)
        NUMBER_REMOVED.inc(len(doomed))
        return len(doomed) == CHUNK
