"""Looks at what numbers have handed over: a number of which nothing is ever acknowledged is noticed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chassis.database import Database, Transaction
from chassis.telemetry.logs import get_logger
from dispatcher.domain.health import Alert, HealthRules, RecentSends, is_silent, paused_for_silence
from dispatcher.store import health, lanes
from dispatcher.store.instant import instant
from dispatcher.usecases.announce import announce, raise_alert
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import LANES

logger = get_logger(__name__)

LANES_AT_ONCE = 200


@dataclass(slots=True, kw_only=True)
class WatchSilence:
    """Any number of replicas look; who finds something new writes it down. Sending goes on unless policy says no."""

    database: Database
    rules: HealthRules
    dice: Callable[[], float]
    clock: Clock = None
    _reached: str = field(default="")

    async def __call__(self) -> bool:
        """Judge some lanes, in the order of their names; True if there are more of them."""
        async with self.database.transaction() as tx:
            found = await health.recent_sends(
                tx,
                after=self._reached,
                lanes=LANES_AT_ONCE,
                sends=self.rules.silent_of,
                quiet=self.rules.silent_after,
                now=given(self.clock),
            )
        silent = [one for one in found if is_silent(one, self.rules)]
        heard = [one.instance for one in found if one.silent_since is not None and one not in silent]
        news = [one for one in silent if one.silent_since is None or one.pauses]
        if news:
            await self._notice(news)
        if heard:
            await self._dismiss(heard)
        self._reached = found[-1].instance if len(found) == LANES_AT_ONCE else ""
        return bool(self._reached)

    async def _notice(self, silent: Sequence[RecentSends]) -> None:
        async with self.database.transaction() as tx:
            await lanes.lock(tx, [one.instance for one in silent])
            fresh = await health.notice(tx, [one.instance for one in silent], now=given(self.clock))
            await self._pause(tx, [one for one in silent if one.pauses])
        for name in fresh:
            raise_alert(Alert.UNACKNOWLEDGED, name)

    async def _pause(self, tx: Transaction, silent: Sequence[RecentSends]) -> None:
        sends = {one.instance: one for one in silent}
        if not sends:
            return
        now = await instant(tx, given(self.clock))
        before = await lanes.lock(tx, sends)
        after = [
            paused_for_silence(one, sends[one.instance], now=now, rules=self.rules, dice=self.dice()) for one in before
        ]
        changes = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        if changes:
            await lanes.save(tx, [new for _, new in changes], ended={}, now=given(self.clock))
            announce(tx, changes)

    async def _dismiss(self, heard: Sequence[str]) -> None:
        async with self.database.transaction() as tx:
            await lanes.lock(tx, heard)
            again = await health.dismiss(tx, heard)
        for name in again:
            logger.info("lane_acknowledged_again", instance=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleLanes:
    """Set the gauge of lanes by condition."""

    database: Database
    clock: Clock = None

    async def __call__(self) -> None:
        """One statement over all lanes."""
        async with self.database.transaction() as tx:
            counts = await health.count_lanes(tx, now=given(self.clock))
        for condition, count in counts.items():
            LANES.labels(condition=condition).set(count)
