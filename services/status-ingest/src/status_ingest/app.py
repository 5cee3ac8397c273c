"""Puts status-ingest together: the only place that reads its settings."""

import sys
from collections.abc import Sequence
from datetime import timedelta

from pydantic import SecretStr

from chassis.clock import utc_now
from chassis.feed import Feed
from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.retention import measuring_loop
from chassis.topology import Topology
from chassis.web import add_shortcut
from contracts.ids import uuid7
from contracts.registry import STATUS_INGEST, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES
from gateways.evolution.webhook_address import own_path
from status_ingest.jobs import adoption, interpretation, retention, settling, watching
from status_ingest.routes import RAW_PATHS, WebhookDoor
from status_ingest.settings import Settings
from status_ingest.subscribers import gateway_feed, hear_erasures, subscribe
from status_ingest.tables import KEPT, SEALED, outbox
from status_ingest.usecases.adopt_receipts import AdoptReceipts
from status_ingest.usecases.erase_recipient import EraseRecipient
from status_ingest.usecases.forget_old import ForgetOld, Retention
from status_ingest.usecases.interpret_events import InterpretEvents
from status_ingest.usecases.keep_event import KeepEvent, store_arrivals
from status_ingest.usecases.learn_keys import learn_keys
from status_ingest.usecases.settle_connections import SettleConnections
from status_ingest.usecases.watch_silence import WatchSilence


async def serve() -> int:
    """Run until told to stop; the exit code."""
    settings = Settings.load()
    foundation = Foundation(
        settings,
        service=STATUS_INGEST,
        outbox=outbox,
        topology=Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS),
        decode=decode,
        title="Pilot Status: webhook ingest",
        sealed=SEALED,
        raw_paths=RAW_PATHS,
    )
    database, key_ring = foundation.database, settings.key_ring()
    arrivals = GroupCommit(database, store_arrivals, name="keep-events")
    keys = GroupCommit(database, learn_keys, name="learn-keys")
    interpreting = interpretation(
        InterpretEvents(database=database, key_ring=key_ring, pepper=settings.pepper()),
        interval_seconds=settings.interpret_interval_seconds,
    )
    keep = KeepEvent(commits=arrivals, key_ring=key_ring, new_id=uuid7, kept=interpreting.wake)
    add_shortcut(foundation.app, WebhookDoor, keep=keep, tokens=settings.tokens(), clock=utc_now)
    subscribe(foundation.broker, keys)
    hear_erasures(foundation.broker, EraseRecipient(database=database, key_ring=key_ring))
    feeds = [] if settings.gateway_amqp_url is None else [_feed(settings, settings.gateway_amqp_url, keep)]
    forgetting = retention(ForgetOld(database=database, retention=_retention(settings)))
    numbers = settling(SettleConnections(database=database)), watching(WatchSilence(database=database))
    adopting = adoption(AdoptReceipts(database=database))
    measuring = measuring_loop(database, KEPT, utc_now)
    return await foundation.run(measuring, forgetting, *numbers, adopting, interpreting, keys, arrivals, *feeds)


async def tell_addresses(instances: Sequence[str]) -> int:
    """Print the path each number's webhooks may be posted to, one a line; 2 if one is no name of a number."""
    token = Settings.load().tokens()[0]
    try:
        paths = [own_path(token, instance) for instance in instances]
    except ValueError as error:
        sys.stderr.write(f"{STATUS_INGEST}: {error}\n")
        return 2
    sys.stdout.writelines(f"{path}\n" for path in paths)
    return 0


def _feed(settings: Settings, url: SecretStr, keep: KeepEvent) -> Feed:
    return gateway_feed(url.get_secret_value(), keep, queue=settings.gateway_amqp_queue, exchanges=settings.exchanges())


def _retention(settings: Settings) -> Retention:
    return Retention(
        raw=timedelta(hours=settings.raw_retention_hours),
        parked=timedelta(hours=settings.parked_retention_hours),
        correlated=timedelta(days=settings.correlation_retention_days),
        quarantined=timedelta(days=settings.quarantine_retention_days),
    )
