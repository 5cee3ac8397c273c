"""Puts the notifier together: reads its settings, picks its adapters, runs its stages."""

import random
from datetime import timedelta

from chassis.answers import Answerer
from chassis.clock import utc_now
from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.guarded import guarded_client
from chassis.http_client import Timeouts
from chassis.retention import measuring_loop
from chassis.runner import Stage
from chassis.seal import KeyRing
from chassis.topology import Topology
from contracts.facts import MessageStatusChanged
from contracts.registry import NOTIFIER, decode
from contracts.topology import (
    DEAD,
    DEAD_LETTERS,
    EXCHANGES,
    NOTIFIER_MESSAGES,
    NOTIFIER_NUMBERS,
    QUEUES,
    question_queue,
)
from notifier.adapters import GuardedPoster, target_check
from notifier.domain.schedule import Schedule
from notifier.domain.settlement import Settlement
from notifier.jobs import Sending, confirming, forgetting, forgetting_deleted, measuring, taking_back
from notifier.settings import Settings
from notifier.store.claims import Bounds
from notifier.subscribers import (
    NUMBERS_PREFETCH,
    PREFETCH,
    answer_with,
    on_forgotten,
    on_message,
    on_number,
    on_status_changed,
)
from notifier.tables import KEPT, SEALED, outbox
from notifier.usecases.deliver_webhook import DeliverWebhook
from notifier.usecases.forget_contents import ForgetContents
from notifier.usecases.forget_deleted import ForgetDeleted
from notifier.usecases.forget_old import ForgetOld
from notifier.usecases.list_endpoints import ListWebhooks
from notifier.usecases.manage_endpoint import ManageWebhook
from notifier.usecases.measure_backlog import MeasureBacklog
from notifier.usecases.plan_deliveries import PlanDeliveries
from notifier.usecases.register_endpoint import RegisterWebhook
from notifier.usecases.replay_deliveries import ReplayWebhooks
from notifier.usecases.settle_attempts import settle_attempts
from notifier.usecases.tell_of_numbers import TellOfNumbers
from notifier.usecases.try_endpoint import TryWebhook

FAILING_AFTER = 5
"""Failures in a row after which an endpoint gets one call at a time."""

TOPOLOGY = Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS)


async def serve() -> int:
    """Run until told to stop; the exit code."""
    settings = Settings.load()
    ring = settings.key_ring()
    foundation = Foundation(
        settings,
        service=NOTIFIER,
        outbox=outbox,
        topology=TOPOLOGY,
        decode=decode,
        title="Pilot notifier",
        sealed=SEALED,
    )
    timeouts = Timeouts(
        connect_seconds=settings.webhook_connect_timeout_seconds, read_seconds=settings.webhook_timeout_seconds
    )
    async with guarded_client(
        allow_private=settings.allow_private_endpoints,
        timeouts=timeouts,
        connections_max=settings.webhook_calls_max,
    ) as client:
        poster = GuardedPoster(client=client, timeout_seconds=settings.webhook_timeout_seconds)
        return await foundation.run(*_stages(foundation, settings, ring, poster))


def _stages(foundation: Foundation, settings: Settings, ring: KeyRing, poster: GuardedPoster) -> list[Stage]:
    database = foundation.database
    settlements = GroupCommit[Settlement, bool](database, settle_attempts, name="settlements")
    # One commit after the other: what happened first to a message is owed before what follows it can be sent.
    plans = GroupCommit[MessageStatusChanged, None](
        database, PlanDeliveries(ring=ring).write, name="plans", commits_max=1
    )
    deliver = _deliver(foundation, settings, ring, poster, settlements)
    sending = Sending(deliver, calls_max=settings.webhook_calls_max)
    answerer = _answerer(foundation, settings, ring, sending)
    forgotten = on_forgotten(ForgetContents(database=database, ring=ring))
    status_changed = on_status_changed(plans, planned=sending.wake)
    foundation.broker.hear(NOTIFIER_MESSAGES, on_message(status_changed, forgotten), prefetch=PREFETCH)
    tell = TellOfNumbers(
        database=database,
        ring=ring,
        confirm_after=timedelta(seconds=settings.disconnect_confirmed_after_seconds),
        clock=utc_now,
    )
    foundation.broker.hear(NOTIFIER_NUMBERS, on_number(tell, told=sending.wake), prefetch=NUMBERS_PREFETCH)
    forget = ForgetOld(database=database, clock=utc_now, retention=timedelta(days=settings.delivery_retention_days))
    loops = [
        taking_back(deliver, interval_seconds=settings.webhook_lease_seconds / 6),
        confirming(tell, told=sending.wake),
        forgetting(forget),
        forgetting_deleted(ForgetDeleted(database=database, clock=utc_now)),
        measuring_loop(database, KEPT, utc_now),
        measuring(MeasureBacklog(database=database, clock=utc_now)),
    ]
    return [settlements, plans, *loops, sending, answerer]


def _deliver(
    foundation: Foundation,
    settings: Settings,
    ring: KeyRing,
    poster: GuardedPoster,
    settlements: GroupCommit[Settlement, bool],
) -> DeliverWebhook:
    return DeliverWebhook(
        database=foundation.database,
        ring=ring,
        poster=poster,
        settlements=settlements,
        schedule=Schedule(pauses=tuple(timedelta(seconds=seconds) for seconds in settings.webhook_retry_seconds)),
        bounds=Bounds(
            per_endpoint=settings.webhook_calls_per_endpoint_max,
            per_tenant=settings.webhook_calls_per_tenant_max,
            failing_after=FAILING_AFTER,
            lease=timedelta(seconds=settings.webhook_lease_seconds),
        ),
        clock=utc_now,
        dice=random.random,
    )


def _answerer(foundation: Foundation, settings: Settings, ring: KeyRing, sending: Sending) -> Answerer:
    database, refusal_of = foundation.database, target_check(allow_private=settings.allow_private_endpoints)
    register = RegisterWebhook(database=database, ring=ring, refusal_of=refusal_of, clock=utc_now)
    manage = ManageWebhook(database=database, ring=ring, refusal_of=refusal_of, clock=utc_now)
    attempt = TryWebhook(database=database, ring=ring, planned=sending.wake, clock=utc_now)
    replay = ReplayWebhooks(database=database, ring=ring, replayed=sending.wake)
    answerer = Answerer(
        settings.broker_url.get_secret_value(),
        question_queue(NOTIFIER),
        answer_with(register, ListWebhooks(database=database), manage, attempt, replay),
        on_fatal=foundation.runner.fail,
    )

    async def problem() -> str | None:
        return answerer.problem() or foundation.broker.problem()

    foundation.health.check("broker", problem)
    return answerer
