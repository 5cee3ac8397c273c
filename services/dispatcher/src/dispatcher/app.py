"""Puts the dispatcher together: the only place that reads its settings and picks the gateway."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from chassis.answers import Answerer
from chassis.clock import utc_now
from chassis.dynamic_consumers import DynamicConsumers
from chassis.foundation import AtStop, Foundation
from chassis.group_commit import GroupCommit
from chassis.loop import Loop
from chassis.retention import measuring_loop
from chassis.topology import Topology
from contracts.registry import DISPATCHER, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES, question_queue
from dispatcher.domain.health import HealthRules
from dispatcher.domain.rules import Rules
from dispatcher.jobs.dispatching import Dispatching
from dispatcher.jobs.health import HealthLoops
from dispatcher.jobs.loops import (
    CONTACTS_SECONDS,
    LANES_SECONDS,
    LOOK_SECONDS,
    PURGE_SECONDS,
    SAMPLE_SECONDS,
    SWEEP_SECONDS,
    Steps,
)
from dispatcher.jobs.promoting import Promoting
from dispatcher.settings import Settings
from dispatcher.subscribers import Subscribers, answer_with, decode_sealed
from dispatcher.tables import KEPT, SEALED, outbox
from dispatcher.usecases.bind_echoes import ObserveEchoes
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.claim_due import ClaimDue
from dispatcher.usecases.close_lane import CloseLane, FailWaiting
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob
from dispatcher.usecases.fail_expired import FailExpired
from dispatcher.usecases.forget_contacts import EraseContact, PurgeContacts
from dispatcher.usecases.give_up_place import GiveUpPlace
from dispatcher.usecases.hear_receipts import HearReceipts
from dispatcher.usecases.keep_house import ListLanes, PurgeOld, SampleJobs
from dispatcher.usecases.leases import ExpireLeases, LeaseBook, RenewLeases
from dispatcher.usecases.look_up import LookUp
from dispatcher.usecases.make_way import MakeWay
from dispatcher.usecases.manners import Manners
from dispatcher.usecases.promote_due import PromoteDue
from dispatcher.usecases.recover import Outages, Recover
from dispatcher.usecases.resolve_uncertain import ResolveUncertain
from dispatcher.usecases.settle_attempts import SettleAttempts
from dispatcher.usecases.sweep_lanes import SweepLanes
from dispatcher.usecases.take_in import InsertJobs, LocateMessage, TakeIn
from dispatcher.usecases.verify_message import ProveMessage
from dispatcher.usecases.watch_health import SampleLanes, WatchSilence
from dispatcher.usecases.watch_lanes import ConfigureLane, ObserveConnection, ProbeLanes
from gateways.evolution import EvolutionInspector, EvolutionLookup, EvolutionSender, Timeouts

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
        sealed=SEALED,
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
            patience=timedelta(seconds=settings.call_patience_seconds),
        )
        self._health_rules = _health_rules(settings)
        self._outages = Outages(sla=settings.recovery_sla)
        timeouts = Timeouts(
            connect_seconds=settings.gateway_connect_timeout_seconds,
            read_seconds=settings.gateway_read_timeout_seconds,
        )
        self._sender = EvolutionSender(timeouts=timeouts, connections_max=settings.calls_max)
        self._lookup = EvolutionLookup(timeouts=timeouts, connections_max=50)
        self._inspector = EvolutionInspector()
        self._manners = Manners(inspector=self._inspector)
        self._book = LeaseBook(self._rules.lease)
        self._dice = random.SystemRandom().random
        self._settling = GroupCommit(self._database, SettleAttempts(dice=self._dice), name="settling")
        self._echoes = GroupCommit(self._database, ObserveEchoes(), name="observing-echoes")
        self._intake = GroupCommit(self._database, InsertJobs(outages=self._outages), name="intake", size_max=20)
        self._receipts = GroupCommit(self._database, HearReceipts(rules=self._health_rules), name="hearing-receipts")
        self._wake_claiming, self._wake_lanes = Wake(), Wake()
        self._promoting = Promoting(
            promote_due=PromoteDue(database=self._database, wake=self._wake_claiming), settled=self._outages.settled
        )
        self._dispatching = self._build_dispatching()
        self._subscribers = self._build_subscribers()
        self._answerer = self._build_answerer()
        self._consumers = DynamicConsumers(
            settings.broker_url.get_secret_value(),
            service=DISPATCHER,
            decode=decode_sealed(self._keys),
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
            self._receipts,
            *loops,
            self._promoting,
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
            manners=self._manners,
            give_up_place=GiveUpPlace(database=self._database, wake=self._wake_claiming),
        )
        return Dispatching(
            claim_due=ClaimDue(database=self._database, rules=self._rules, dice=self._dice),
            carry_out=carry_out,
            wake_promoting=self._promoting.wake,
            calls_max=self._settings.calls_max,
            drain_timeout_seconds=max(self._settings.shutdown_timeout_seconds - DRAIN_MARGIN_SECONDS, 0.1),
            settled=self._outages.settled,
        )

    def _build_subscribers(self) -> Subscribers:
        database, wake, outages = self._database, self._wake_claiming, self._outages
        make_way = MakeWay(database=database)
        return Subscribers(
            configure_lane=ConfigureLane(database=database, wake=self._wake_lanes),
            close_lane=CloseLane(database=database, wake=self._wake_lanes),
            observe_connection=ObserveConnection(database=database, wake=wake, dice=self._dice),
            locate_message=LocateMessage(
                database=database, rules=self._rules, wake=wake, make_way=make_way, outages=outages
            ),
            prove_message=ProveMessage(database=database, lookup=self._lookup, keys=self._keys),
            take_in=TakeIn(
                commits=self._intake,
                wake=wake,
                wake_promoting=self._promoting.wake,
                make_way=make_way,
                outages=outages,
            ),
            erase_contact=EraseContact(database=database),
            observing_echoes=self._echoes,
            hearing_receipts=self._receipts,
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
        look_up = LookUp(
            database=database,
            lookup=self._lookup,
            keys=self._keys,
            pepper=self._settings.pepper(),
            manners=self._manners,
        )
        retention = timedelta(days=self._settings.job_retention_days)
        steps = Steps(
            renew_leases=RenewLeases(database=database, book=self._book),
            expire_leases=ExpireLeases(database=database, rules=rules, wake=wake),
            fail_expired=FailExpired(database=database),
            sweep_lanes=SweepLanes(database=database, wake=wake),
            resolve_uncertain=ResolveUncertain(
                database=database, look_up=look_up, rules=rules, wake=self._promoting.wake, dice=self._dice
            ),
            probe_lanes=ProbeLanes(database=database, lookup=self._lookup, keys=self._keys, wake=wake, dice=self._dice),
            purge_old=PurgeOld(database=database, job_retention=retention),
            sample_jobs=SampleJobs(database=database),
            fail_waiting=FailWaiting(database=database),
            list_lanes=ListLanes(database=database),
            consumers=self._consumers,
        )
        contacts = PurgeContacts(database=database, retention=timedelta(days=self._settings.contact_retention_days))
        third = self._rules.lease.total_seconds() / 3
        probing = Loop("probing", steps.probe, interval_seconds=LOOK_SECONDS)
        lanes = Loop("following-lanes", steps.follow_lanes, interval_seconds=LANES_SECONDS)
        closing = Loop("failing-removed", steps.fail_removed, interval_seconds=LOOK_SECONDS)
        self._wake_lanes.targets = (lanes.wake, probing.wake, closing.wake, self._promoting.wake, wake)
        return [
            *self._build_health().all(),
            Loop("renewing-leases", steps.renew, interval_seconds=third),
            Loop("expiring-leases", steps.expire, interval_seconds=min(third, LOOK_SECONDS)),
            Loop("failing-late", steps.fail_late, interval_seconds=LOOK_SECONDS),
            Loop("sweeping", steps.sweep, interval_seconds=SWEEP_SECONDS),
            Loop("resolving", steps.resolve, interval_seconds=LOOK_SECONDS),
            probing,
            lanes,
            closing,
            Loop("purging", steps.purge_old, interval_seconds=PURGE_SECONDS),
            Loop("purging-contacts", contacts.__call__, interval_seconds=CONTACTS_SECONDS),
            measuring_loop(database, KEPT, utc_now),
            Loop("sampling", steps.sample, interval_seconds=SAMPLE_SECONDS),
        ]

    def _build_health(self) -> HealthLoops:
        database = self._database
        return HealthLoops(
            recover=Recover(
                database=database, outages=self._outages, wake=Wake((self._promoting.wake, self._dispatching.wake))
            ),
            watch_silence=WatchSilence(database=database, rules=self._health_rules, dice=self._dice),
            sample_lanes=SampleLanes(database=database),
        )

    async def _lanes_problem(self) -> str | None:
        return self._consumers.problem() or self._answerer.problem()

    async def _close_gateway(self) -> None:
        await self._sender.aclose()
        await self._lookup.aclose()
        await self._inspector.aclose()


def _health_rules(settings: Settings) -> HealthRules:
    return HealthRules(
        failures_max=settings.first_contact_failures_max,
        failures_within=timedelta(seconds=settings.first_contact_failures_within_seconds),
        cold_hold=timedelta(seconds=settings.first_contact_hold_seconds),
        silent_sends=settings.unacknowledged_sends_max,
        silent_of=settings.unacknowledged_of_last,
        silent_after=timedelta(seconds=settings.unacknowledged_after_seconds),
    )
