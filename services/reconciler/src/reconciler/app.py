"""Puts the reconciler together: the only place that reads its settings."""

from datetime import UTC, datetime, timedelta

from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.topology import Topology
from contracts.registry import RECONCILER, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES
from reconciler.jobs import passes, retention
from reconciler.settings import Settings
from reconciler.subscribers import hear_dead_letters, hear_messages
from reconciler.tables import outbox
from reconciler.usecases.file_dead_letters import FileDeadLetters
from reconciler.usecases.forget_old import ForgetOld
from reconciler.usecases.keep_ledger import KeepLedger
from reconciler.usecases.reconcile import Reconcile


async def serve() -> int:
    """Run until told to stop; the exit code."""
    settings = Settings.load()
    foundation = Foundation(
        settings,
        service=RECONCILER,
        outbox=outbox,
        topology=Topology(exchanges=EXCHANGES, queues=QUEUES, dead_exchange=DEAD, dead_queue=DEAD_LETTERS),
        decode=decode,
        title="Pilot Status: reconciler",
    )
    database, broker = foundation.database, foundation.broker
    grace = timedelta(seconds=settings.evidence_grace_seconds)
    entries = GroupCommit(database, KeepLedger(grace=grace).write, name="keep-ledger")
    letters = GroupCommit(database, FileDeadLetters(key_ring=settings.key_ring()).write, name="file-dead-letters")
    hear_messages(broker, entries)
    hear_dead_letters(broker, letters, clock=_now)
    reconcile = Reconcile(
        database=database,
        interval=settings.interval,
        recovery_sla=settings.recovery_sla,
        is_connected=lambda: broker.problem() is None,
        clock=_now,
    )
    forget = ForgetOld(
        database=database,
        closed=timedelta(hours=settings.ledger_retention_hours),
        dead=timedelta(days=settings.dead_letter_retention_days),
    )
    return await foundation.run(retention(forget), passes(reconcile, interval=settings.interval), entries, letters)


def _now() -> datetime:
    return datetime.now(UTC)
