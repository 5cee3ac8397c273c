"""Puts status-ingest together: the only place that reads its settings."""

from datetime import UTC, datetime, timedelta

from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.topology import Topology
from contracts.ids import uuid7
from contracts.registry import STATUS_INGEST, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES
from status_ingest.jobs import interpretation, retention
from status_ingest.routes import RAW_PATHS, ingest_router
from status_ingest.settings import Settings
from status_ingest.subscribers import subscribe
from status_ingest.tables import outbox
from status_ingest.usecases.forget_old import ForgetOld, Retention
from status_ingest.usecases.interpret_events import InterpretEvents
from status_ingest.usecases.keep_event import KeepEvent, store_arrivals
from status_ingest.usecases.learn_keys import learn_keys


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
    foundation.app.include_router(ingest_router(keep, tokens=settings.tokens(), clock=lambda: datetime.now(UTC)))
    subscribe(foundation.broker, keys)
    forgetting = retention(ForgetOld(database=database, retention=_retention(settings)))
    return await foundation.run(forgetting, interpreting, keys, arrivals)


def _retention(settings: Settings) -> Retention:
    return Retention(
        raw=timedelta(hours=settings.raw_retention_hours),
        parked=timedelta(hours=settings.parked_retention_hours),
        correlated=timedelta(days=settings.correlation_retention_days),
        quarantined=timedelta(days=settings.quarantine_retention_days),
    )
