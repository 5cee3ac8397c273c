"""What a replica does about receipts, silence, outages and rounds, by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from chassis.group_commit import GroupCommit
from chassis.telemetry.metrics import registry
from contracts.commands import RequeueMessage
from contracts.facts import MessageAccepted, ReceiptRecorded
from contracts.status import Status
from contracts.values import MessageRef
from dispatcher.domain.health import HealthRules
from dispatcher.usecases.hear_receipts import HearReceipts
from dispatcher.usecases.make_way import MakeWay
from dispatcher.usecases.recover import Outages, Recover
from dispatcher.usecases.take_in import InsertJobs, LocateMessage, TakeIn
from dispatcher.usecases.watch_health import SampleLanes, WatchSilence

from .loops import nobody
from .rig import Rig

Reportable = Literal[Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED]
SLA = timedelta(minutes=10)


def receipt(ref: MessageRef, status: Reportable, *, at: datetime, key_id: str = "K1") -> ReceiptRecorded:
    """What status-ingest says."""
    return ReceiptRecorded(ref=ref, key_id=key_id, status=status, occurred_at=at)


async def hear(rig: Rig, *facts: ReceiptRecorded, rules: HealthRules | None = None) -> None:
    """Receipts arrive, in one transaction."""
    async with rig.database.transaction() as tx:
        await HearReceipts(rules=rules or HealthRules(), clock=rig.now)(tx, facts)


async def watch_silence(rig: Rig, rules: HealthRules | None = None) -> None:
    """One look at all lanes."""
    watch = WatchSilence(database=rig.database, rules=rules or HealthRules(), dice=rig.roll, clock=rig.now)
    while await watch():
        pass


async def sample_lanes(rig: Rig) -> None:
    """Set the gauge."""
    await SampleLanes(database=rig.database, clock=rig.now)()


def counted(name: str, **labels: str) -> float:
    return registry.get_sample_value(name, labels) or 0.0


def alerts(kind: str) -> float:
    return counted("pilot_dispatcher_lane_alerts_total", kind=kind)


def stranger(number: int) -> str:
    return f"5547{number:09}"


async def send(rig: Rig, count: int, *, start: int = 0, **options: Any) -> list[MessageRef]:
    """To so many people the number does not know."""
    refs = await rig.accept(
        *(rig.message(to=stranger(start + n), said=f"m{start + n}", window=200_000, **options) for n in range(count))
    )
    while await rig.dispatch():
        pass
    return refs


@dataclass(slots=True)
class Replica:
    """A process that has just started on a rig."""

    rig: Rig
    sla: timedelta | None = SLA
    outages: Outages = field(init=False)
    recover: Recover = field(init=False)

    def __post_init__(self) -> None:
        self.outages = Outages(sla=self.sla)
        self.recover = Recover(database=self.rig.database, outages=self.outages, wake=nobody, clock=self.rig.now)

    async def start(self) -> None:
        """Until it may go to work."""
        while await self.recover():
            pass

    async def take_in(self, *accepted: MessageAccepted) -> Sequence[MessageRef]:
        """As the consumer of a lane does."""
        commits = GroupCommit(self.rig.database, InsertJobs(outages=self.outages, clock=self.rig.now))
        take_in = TakeIn(
            commits=commits,
            wake=nobody,
            wake_promoting=nobody,
            make_way=MakeWay(database=self.rig.database, clock=self.rig.now),
            outages=self.outages,
        )
        await take_in(accepted)
        return [fact.ref for fact in accepted]

    async def requeue(self, accepted: MessageAccepted, *, possibly_sent: bool = False) -> None:
        """As the consumer of commands does."""
        locate = LocateMessage(
            database=self.rig.database,
            rules=self.rig.rules,
            wake=nobody,
            make_way=MakeWay(database=self.rig.database, clock=self.rig.now),
            outages=self.outages,
            clock=self.rig.now,
        )
        await locate(RequeueMessage(ref=accepted.ref, accepted=accepted, possibly_sent=possibly_sent))
