"""Puts the dispatcher together: the only place that reads its settings and picks the gateway."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from chassis.answers import Answerer
from chassis.dynamic_consumers import DynamicConsumers
from chassis.foundation import AtStop, Foundation
from chassis.group_commit import GroupCommit
from chassis.loop import Loop
from chassis.topology import Topology
from contracts.registry import DISPATCHER, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES, question_queue
from dispatcher.domain.rules import Rules
from dispatcher.jobs.dispatching import Dispatching
from dispatcher.jobs.loops import LANES_SECONDS, LOOK_SECONDS, PURGE_SECONDS, SAMPLE_SECONDS, Steps
from dispatcher.settings import Settings
from dispatcher.subscribers import Subscribers, answer_with
from dispatcher.tables import outbox
from dispatcher.usecases.bind_echoes import ObserveEchoes
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.close_lane import CloseLane, FailWaiting
from dispatcher.usecases.dispatch_due import CarryOut, ClaimDue
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob
from dispatcher.usecases.keep_house import ListLanes, PurgeOld, SampleJobs
from dispatcher.usecases.leases import ExpireLeases, LeaseBook, RenewLeases
from dispatcher.usecases.look_up import LookUp
from dispatcher.usecases.resolve_uncertain import ResolveUncertain
from dispatcher.usecases.settle_attempts import SettleAttempts
from dispatcher.usecases.take_in import InsertJobs, LocateMessage, TakeIn
from dispatcher.usecases.watch_lanes import ConfigureLane, ObserveConnection, ProbeLanes
from gateways.evolution import EvolutionLookup, EvolutionSender, Timeouts

DRAIN_MARGIN_SECONDS = 2.0


async def serve() -> int:
    """Run until told to stop; the exit code."""
    settings = Settings.load()
    foundation = Foundation(
        settings,
        service=DISPATCHER,
        outbox=outbox,
        topology=Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS),
        decode=decode,
        title="Pilot Status: dispatcher",
    )
    return await Assembly(settings, foundation).run()


@dataclass(slots=True)
class Wake:
    """Something to be called later, known earlier: use cases and the loops they wake need each other."""

    targets: tuple[Callable[[], None], ...] = ()

    def __call__(self) -> None:
        """Pass it on, once there is somebody."""
        for target in self.targets:
            target()


class Assembly:
    """Use cases on their adapters, loops and doors on the use cases."""

    def __init__(self, settings: Settings, foundation: Foundation) -> None:
        self._settings, self._foundation = settings, foundation
        self._database, self._keys = foundation.database, settings.key_ring()
        self._rules = Rules(
            lease=timedelta(seconds=settings.lease_seconds),
            absence_believed_after=timedelta(seconds=settings.absence_believed_after_seconds),
            resolve_within=timedelta(seconds=settings.resolve_within_seconds),
        )
        timeouts = Timeouts(
            connect_seconds=settings.gateway_connect_timeout_seconds,
            read_seconds=settings.gateway_read_timeout_seconds,
        )
        self._sender = EvolutionSender(timeouts=timeouts, connections_max=settings.calls_max)
        self._lookup = EvolutionLookup(timeouts=timeouts, connections_max=50)
        self._book = LeaseBook(self._rules.lease)
        self._dice = random.SystemRandom().random
        self._settling = GroupCommit(self._database, SettleAttempts(dice=self._dice), name="settling")
        self._echoes = GroupCommit(self._database, ObserveEchoes(), name="observing-echoes")
        self._intake = GroupCommit(self._database, InsertJobs(), name="intake", size_max=20)
        self._wake_claiming, self._wake_lanes = Wake(), Wake()
        self._dispatching = self._build_dispatching()
        self._subscribers = self._build_subscribers()
        self._answerer = self._build_answerer()
        self._consumers = DynamicConsumers(
            settings.broker_url.get_secret_value(),
            service=DISPATCHER,
            decode=decode,
            handler=self._subscribers.on_lane,
            dead_exchange=DEAD,
            linger_ms=2,
            prefetch=100,
            batch_size=100,
            on_fatal=foundation.runner.fail,
        )

    async def run(self) -> int:
        """Everything is open before anything is heard; consumers stop first, then claims, calls and settles."""
        self._subscribers.register(self._foundation.broker)
        self._foundation.health.check("lanes", self._lanes_problem)
        self._wake_claiming.targets = (self._dispatching.wake,)
        loops = self._build_loops()
        return await self._foundation.run(
            AtStop("gateway", self._close_gateway),
            self._settling,
            self._echoes,
            self._intake,
            *loops,
            self._dispatching,
            self._consumers,
            self._answerer,
        )

    def _build_dispatching(self) -> Dispatching:
        carry_out = CarryOut(
            sender=self._sender,
            keys=self._keys,
            book=self._book,
            rules=self._rules,
            settling=self._settling,
            dice=self._dice,
        )
        return Dispatching(
            claim_due=ClaimDue(database=self._database, rules=self._rules),
            carry_out=carry_out,
            calls_max=self._settings.calls_max,
            drain_timeout_seconds=max(self._settings.shutdown_timeout_seconds - DRAIN_MARGIN_SECONDS, 0.1),
        )

    def _build_subscribers(self) -> Subscribers:
        database, wake = self._database, self._wake_claiming
        return Subscribers(
            configure_lane=ConfigureLane(database=database, wake=self._wake_lanes),
            close_lane=CloseLane(database=database, wake=self._wake_lanes),
            observe_connection=ObserveConnection(database=database, wake=wake, dice=self._dice),
            locate_message=LocateMessage(database=database, rules=self._rules, wake=wake),
            take_in=TakeIn(commits=self._intake, wake=wake),
            observing_echoes=self._echoes,
        )

    def _build_answerer(self) -> Answerer:
        database = self._database
        return Answerer(
            self._settings.broker_url.get_secret_value(),
            question_queue(DISPATCHER),
            answer_with(
                CancelJobs(database=database), ExplainJob(database=database), DescribeNumber(database=database)
            ),
            on_fatal=self._foundation.runner.fail,
        )

    def _build_loops(self) -> list[Loop]:
        database, rules, wake = self._database, self._rules, self._wake_claiming
        look_up = LookUp(database=database, lookup=self._lookup, keys=self._keys, pepper=self._settings.pepper())
        retention = timedelta(days=self._settings.job_retention_days)
        steps = Steps(
            renew_leases=RenewLeases(database=database, book=self._book),
            expire_leases=ExpireLeases(database=database, rules=rules, wake=wake),
            resolve_uncertain=ResolveUncertain(
                database=database, look_up=look_up, rules=rules, wake=wake, dice=self._dice
            ),
            probe_lanes=ProbeLanes(database=database, lookup=self._lookup, keys=self._keys, wake=wake, dice=self._dice),
            purge_old=PurgeOld(database=database, job_retention=retention),
            sample_jobs=SampleJobs(database=database),
            fail_waiting=FailWaiting(database=database),
            list_lanes=ListLanes(database=database),
            consumers=self._consumers,
        )
        third = self._rules.lease.total_seconds() / 3
        probing = Loop("probing", steps.probe, interval_seconds=LOOK_SECONDS)
        lanes = Loop("following-lanes", steps.follow_lanes, interval_seconds=LANES_SECONDS)
        closing = Loop("failing-removed", steps.fail_removed, interval_seconds=LOOK_SECONDS)
        self._wake_lanes.targets = (lanes.wake, probing.wake, closing.wake, wake)
        return [
            Loop("renewing-leases", steps.renew, interval_seconds=third),
            Loop("expiring-leases", steps.expire, interval_seconds=min(third, LOOK_SECONDS)),
            Loop("resolving", steps.resolve, interval_seconds=LOOK_SECONDS),
            probing,
            lanes,
            closing,
            Loop("purging", steps.purge_old, interval_seconds=PURGE_SECONDS),
            Loop("sampling", steps.sample, interval_seconds=SAMPLE_SECONDS),
        ]

    async def _lanes_problem(self) -> str | None:
        return self._consumers.problem() or self._answerer.problem()

    async def _close_gateway(self) -> None:
        await self._sender.aclose()
        await self._lookup.aclose()
