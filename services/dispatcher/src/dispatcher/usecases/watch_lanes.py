"""Keeps what is known about numbers: their configuration, and whether they are connected."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from chassis.database import Database
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from contracts.facts import NumberConfigured, NumberConnectionChanged
from dispatcher.domain.lanes import Connection, ProbeAnswer, ProbeFailed, observed, probed
from dispatcher.store import lanes
from dispatcher.store.lanes import Probe
from dispatcher.usecases.announce import announce
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.dispatch_due import open_access
from gateways.port import Lookup, LookupFailedError

logger = get_logger(__name__)

PROBES_AT_ONCE = 20
PROBE_BUSY = timedelta(seconds=5)
"""How long others leave a lane alone that is being probed: probing twice is harmless, waiting for the dead is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureLane:
    """Follow a number's configuration."""

    database: Database
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self, fact: NumberConfigured) -> None:
        """The newest version wins, in whatever order they come."""
        async with self.database.transaction() as tx:
            await lanes.configure(tx, fact, now=given(self.clock))
        self.wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveConnection:
    """Follow what others saw of a number's connection."""

    database: Database
    wake: Callable[[], None]
    dice: Callable[[], float]
    clock: Clock = None

    async def __call__(self, fact: NumberConnectionChanged) -> None:
        """Nothing is said about it: whoever saw it did."""
        async with self.database.transaction() as tx:
            for connection in await lanes.lock(tx, [fact.instance]):
                now = given(self.clock) or fact.observed_at
                seen = observed(connection, fact, now=now, dice=self.dice())
                await lanes.save(tx, [seen], ended={}, now=given(self.clock))
        self.wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLanes:
    """Ask the gateway about lanes that are not open, until they are."""

    database: Database
    lookup: Lookup
    keys: KeyRing
    wake: Callable[[], None]
    dice: Callable[[], float]
    clock: Clock = None

    async def __call__(self) -> int:
        """How many were asked, at most one batch; nothing is locked meanwhile."""
        async with self.database.transaction() as tx:
            probes, now = await lanes.take_probes(tx, limit=PROBES_AT_ONCE, busy=PROBE_BUSY, now=given(self.clock))
        if now is None:
            return 0
        answers = await asyncio.gather(*(self._ask(probe) for probe in probes))
        await self._conclude(probes, answers, now)
        self.wake()
        return len(probes)

    async def _ask(self, probe: Probe) -> ProbeAnswer:
        try:
            access = open_access(self.keys, probe.access, probe.connection.instance)
            return await self.lookup.connection_state(access)
        except LookupFailedError:
            return ProbeFailed()
        except (SealError, ValidationError) as error:
            logger.error("access_unreadable", error=error, number_id=probe.access.number_id)
            return ProbeFailed()

    async def _conclude(self, probes: Sequence[Probe], answers: Sequence[ProbeAnswer], now: datetime) -> None:
        asked = {
            probe.connection.instance: (probe.connection, answer) for probe, answer in zip(probes, answers, strict=True)
        }
        async with self.database.transaction() as tx:
            before = [one for one in await lanes.lock(tx, asked) if _is_unchanged(one, asked[one.instance][0])]
            after = [probed(one, asked[one.instance][1], now=now, dice=self.dice()) for one in before]
            await lanes.save(tx, after, ended={}, now=given(self.clock))
            announce(tx, zip(before, after, strict=True))


def _is_unchanged(current: Connection, asked: Connection) -> bool:
    """False if somebody learnt something newer while the gateway was being asked."""
    return current.state is asked.state and current.observed_at == asked.observed_at
