"""The dispatcher's loops, each run by hand: one call is what its loop would do next."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from dispatcher.usecases.claim_due import ClaimDue, Claimed
from dispatcher.usecases.fail_expired import FailExpired
from dispatcher.usecases.keep_house import PurgeOld, SampleJobs
from dispatcher.usecases.leases import ExpireLeases, RenewLeases
from dispatcher.usecases.look_up import LookUp
from dispatcher.usecases.promote_due import PromoteDue
from dispatcher.usecases.resolve_uncertain import ResolveUncertain
from dispatcher.usecases.sweep_lanes import SweepLanes
from dispatcher.usecases.watch_lanes import ProbeLanes

from .sealing import KEYS, PEPPER


class Loops:
    """What a rig does by itself; the rig says on what."""

    __slots__ = ()
    database: Any
    book: Any
    rules: Any
    gateway: Any
    now: Any
    roll: Any

    async def promote(self) -> float | None:
        """Everything that is due; seconds until the next job is."""
        promote = PromoteDue(database=self.database, wake=nobody, clock=self.now)
        while (promoted := await promote()).jobs:
            pass
        return promoted.seconds_until_next

    async def fail_expired(self) -> None:
        """Everything that is late."""
        while await FailExpired(database=self.database, clock=self.now)():
            pass

    async def sweep(self) -> int:
        return await SweepLanes(database=self.database, wake=nobody, clock=self.now)()

    async def claim_only(self, capacity: int = 50) -> Claimed:
        """A pass of the claim alone."""
        return await ClaimDue(database=self.database, rules=self.rules, clock=self.now, dice=self.roll)(capacity)

    async def claim(self, capacity: int = 50) -> Claimed:
        """The three loops one after the other: what is late, what has come due, what may go."""
        await self.fail_expired()
        until_next = await self.promote()
        claimed = await self.claim_only(capacity)
        waits = [one for one in (until_next, claimed.seconds_until_work) if one is not None]
        return replace(claimed, seconds_until_work=min(waits, default=None))

    async def expire_leases(self) -> int:
        return await ExpireLeases(database=self.database, rules=self.rules, wake=nobody, clock=self.now)()

    async def renew_leases(self) -> int:
        return await RenewLeases(database=self.database, book=self.book, clock=self.now)()

    async def resolve(self) -> int:
        look_up = LookUp(database=self.database, lookup=self.gateway, keys=KEYS, pepper=PEPPER)
        resolve = ResolveUncertain(
            database=self.database,
            look_up=look_up,
            rules=self.rules,
            wake=nobody,
            dice=self.roll,
            clock=self.now,
        )
        return await resolve()

    async def probe(self) -> int:
        probe = ProbeLanes(
            database=self.database,
            lookup=self.gateway,
            keys=KEYS,
            wake=nobody,
            dice=self.roll,
            clock=self.now,
        )
        return await probe()

    async def purge(self, retention: timedelta = timedelta(days=7)) -> bool:
        return await PurgeOld(database=self.database, job_retention=retention, clock=self.now)()

    async def sample(self) -> None:
        await SampleJobs(database=self.database)()


def nobody() -> None:
    """Whom nothing needs to wake: the next loop is run by hand as well."""
