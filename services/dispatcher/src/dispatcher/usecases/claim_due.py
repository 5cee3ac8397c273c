"""Claims what lanes may send now: their turns are decided by a pure function while their rows are locked."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chassis.database import Database, Transaction
from dispatcher.domain.claim_pass import LaneTurn, looks, next_look, take_turns
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import Rules
from dispatcher.store import claiming, failing
from dispatcher.store.claiming import DueLanes
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.fail_expired import end_failed
from dispatcher.usecases.measures import SUPPRESSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """Attempts to carry out, and the monotonic time before they were claimed.

    `seconds_until_work` is until a lane deserves a look; 0 or less if one does already, None if none will by itself.
    """

    attempts: Sequence[Attempt]
    claimed_at: float
    seconds_until_work: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDue:
    """One pass over the lanes that deserve a look; when none does it is a single statement."""

    database: Database
    rules: Rules
    dice: Callable[[], float]
    clock: Clock = None

    async def __call__(self, capacity: int) -> Claimed:
        """Up to `capacity` attempts, at most one open attempt per job."""
        claimed_at, now = time.monotonic(), given(self.clock)
        async with self.database.transaction() as tx:
            due = await claiming.lock_due(tx, capacity=capacity, now=now)
            if not due.lanes:
                return Claimed(attempts=[], claimed_at=claimed_at, seconds_until_work=_wait(due.others_wake_at, due))
            turns = await self._take_turns(tx, due, capacity)
            attempts = await claiming.claim(tx, turns, lease=self.rules.lease, now=now)
            await self._suppress(tx, turns, now)
        wait = None if attempts else _wait(next_look(turns, due.others_wake_at, now=due.now), due)
        return Claimed(attempts=attempts, claimed_at=claimed_at, seconds_until_work=wait)

    async def _take_turns(self, tx: Transaction, due: DueLanes, capacity: int) -> Sequence[LaneTurn]:
        heads = await claiming.read_heads(tx, looks(due.lanes, capacity=capacity), now=due.now)
        return take_turns(due.lanes, heads, capacity=capacity, now=due.now, dice=self.dice, ahead=self.rules.ahead)

    async def _suppress(self, tx: Transaction, turns: Sequence[LaneTurn], now: datetime | None) -> None:
        repeated = [head.key for one in turns for head in one.turn.suppressed]
        if repeated:
            failed = await failing.suppress(tx, repeated, now=now)
            await end_failed(tx, failed)
            SUPPRESSED.inc(len(failed))


def _wait(wake_at: datetime | None, due: DueLanes) -> float | None:
    return None if wake_at is None else (wake_at - due.now).total_seconds()
