"""Brings to its lane what has come due: scheduled messages, retries, and what was held or released."""

from collections.abc import Callable
from dataclasses import dataclass

from chassis.database import Database
from dispatcher.store import intake, promoting
from dispatcher.usecases.clock import Clock, given

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """How many jobs were moved, at most one batch, and when the next one comes due; None if none is scheduled."""

    jobs: int
    seconds_until_next: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteDue:
    """Due jobs become READY under the locks of their lanes, so that none is tagged behind a moving virtual time."""

    database: Database
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self) -> Promoted:
        """One statement while nothing is due; `wake` is called after the commit."""
        now = given(self.clock)
        async with self.database.transaction() as tx:
            due = await promoting.look(tx, limit=BATCH, now=now)
            moved = 0
            if due.instances:
                await intake.lock_lanes(tx, due.instances)
                moved = await promoting.promote(tx, due.instances, limit=BATCH, now=now)
        if moved:
            self.wake()
        return Promoted(jobs=moved, seconds_until_next=due.seconds_until_next)
