"""Goes round the lanes for what should not be there: jobs that no claim would see, and tags that say nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from chassis.database import Database
from dispatcher.store import promoting
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import STRAYED

LANES = 200
JOBS_A_STREAM = 20
FLOWS = 1_000


@dataclass(slots=True, kw_only=True)
class SweepLanes:
    """A safety net: a READY job below the floor of its stream would never be seen by a claim.

    A pass looks at some lanes, the next one at those that follow by name.
    """

    database: Database
    wake: Callable[[], None]
    clock: Clock = None
    after: str = ""

    async def __call__(self) -> int:
        """How many strays were lifted."""
        async with self.database.transaction() as tx:
            swept = await promoting.sweep(
                tx, after=self.after, lanes=LANES, limit=JOBS_A_STREAM, flows=FLOWS, now=given(self.clock)
            )
        self.after = swept.reached or ""
        if swept.strayed:
            STRAYED.inc(swept.strayed)
            self.wake()
        return swept.strayed
