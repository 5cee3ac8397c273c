"""The loops beside dispatching: leases, uncertain attempts, probes, lanes, tidying and sampling."""

import asyncio
from dataclasses import dataclass

from chassis.dynamic_consumers import DynamicConsumers
from contracts.topology import lane_queue
from dispatcher.usecases.close_lane import FailWaiting
from dispatcher.usecases.fail_expired import FailExpired
from dispatcher.usecases.keep_house import ListLanes, PurgeOld, SampleJobs
from dispatcher.usecases.leases import ExpireLeases, RenewLeases
from dispatcher.usecases.resolve_uncertain import ResolveUncertain
from dispatcher.usecases.sweep_lanes import SweepLanes
from dispatcher.usecases.watch_lanes import ProbeLanes

LOOK_SECONDS = 1.0
LANES_SECONDS = 10.0
PURGE_SECONDS = 60.0
CONTACTS_SECONDS = 3_600.0
SAMPLE_SECONDS = 15.0
SWEEP_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Use cases as steps of loops: True means that there may be more at once."""

    renew_leases: RenewLeases
    expire_leases: ExpireLeases
    fail_expired: FailExpired
    sweep_lanes: SweepLanes
    resolve_uncertain: ResolveUncertain
    probe_lanes: ProbeLanes
    purge_old: PurgeOld
    sample_jobs: SampleJobs
    fail_waiting: FailWaiting
    list_lanes: ListLanes
    consumers: DynamicConsumers

    async def renew(self) -> bool:
        """Leases of calls under way."""
        await self.renew_leases()
        return False

    async def expire(self) -> bool:
        """Leases nobody keeps."""
        return await self.expire_leases() > 0

    async def fail_late(self) -> bool:
        """Jobs whose delivery window closed."""
        return await self.fail_expired() > 0

    async def sweep(self) -> bool:
        """What should not be in a lane."""
        await self.sweep_lanes()
        return False

    async def resolve(self) -> bool:
        """Uncertain jobs that are due for a look."""
        return await self.resolve_uncertain() > 0

    async def fail_removed(self) -> bool:
        """What waits in lanes of removed numbers."""
        return await self.fail_waiting()

    async def probe(self) -> bool:
        """Lanes that are not open."""
        return await self.probe_lanes() > 0

    async def sample(self) -> bool:
        """The gauges."""
        await self.sample_jobs()
        return False

    async def follow_lanes(self) -> bool:
        """Consume the queue of every lane, whichever process heard of it first, and none of lanes that are gone."""
        consumed = self.consumers.consumed()
        wanted = {queue.name: queue for queue in map(lane_queue, await self.list_lanes())}
        await asyncio.gather(
            *(self.consumers.add(queue) for name, queue in wanted.items() if name not in consumed),
            *(self.consumers.remove(name) for name in consumed - wanted.keys()),
        )
        return False
