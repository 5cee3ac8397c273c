"""Puts the reconciler together: the only place that reads its settings."""

from datetime import UTC, datetime, timedelta

from chassis.answers import Answerer
from chassis.foundation import Foundation
from chassis.group_commit import GroupCommit
from chassis.loop import Loop
from chassis.retention import measuring_loop
from chassis.seal import KeyRing
from chassis.topology import Topology
from contracts.registry import RECONCILER, decode
from contracts.topology import DEAD, DEAD_LETTERS, EXCHANGES, QUEUES, question_queue
from reconciler.jobs import passes, retention
from reconciler.settings import Settings
from reconciler.subscribers import answer_with, hear_dead_letters, hear_erasures, hear_messages
from reconciler.tables import KEPT, SEALED, outbox
from reconciler.usecases.confirm_dispatch import ConfirmDispatch
from reconciler.usecases.erase_recipient import EraseRecipient
from reconciler.usecases.file_dead_letters import FileDeadLetters
from reconciler.usecases.forget_old import ForgetOld
from reconciler.usecases.keep_ledger import KeepLedger
from reconciler.usecases.read_letters import ReadLetters
from reconciler.usecases.reconcile import Reconcile
from reconciler.usecases.settle_letters import SettleLetters
from reconciler.usecases.tell_books import TellBooks


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
        sealed=SEALED,
    )
    database, broker, key_ring = foundation.database, foundation.broker, settings.key_ring()
    grace = timedelta(seconds=settings.evidence_grace_seconds)
    entries = GroupCommit(database, KeepLedger(grace=grace).write, name="keep-ledger")
    letters = GroupCommit(database, FileDeadLetters(key_ring=key_ring).write, name="file-dead-letters")
    hear_messages(broker, entries)
    hear_dead_letters(broker, letters, clock=_now)
    hear_erasures(broker, EraseRecipient(database=database, key_ring=key_ring))
    answerer = _answerer(settings, foundation, key_ring)
    forget = ForgetOld(
        database=database,
        closed=timedelta(hours=settings.ledger_retention_hours),
        dead=timedelta(days=settings.dead_letter_retention_days),
    )
    measuring = measuring_loop(database, KEPT, _now)
    return await foundation.run(measuring, retention(forget), _passes(settings, foundation), entries, letters, answerer)


def _passes(settings: Settings, foundation: Foundation) -> Loop:
    reconcile = Reconcile(
        database=foundation.database,
        interval=settings.interval,
        recovery_sla=settings.recovery_sla,
        is_connected=lambda: foundation.broker.problem() is None,
        clock=_now,
    )
    confirm = ConfirmDispatch(
        database=foundation.database,
        grace=timedelta(seconds=settings.ack_grace_seconds),
        age_max=timedelta(hours=settings.message_age_max_hours),
    )
    return passes(reconcile, confirm, interval=settings.interval)


def _answerer(settings: Settings, foundation: Foundation, key_ring: KeyRing) -> Answerer:
    database = foundation.database
    return Answerer(
        settings.broker_url.get_secret_value(),
        question_queue(RECONCILER),
        answer_with(
            ReadLetters(database=database, key_ring=key_ring, clock=_now),
            SettleLetters(database=database, key_ring=key_ring, clock=_now),
            TellBooks(database=database, clock=_now),
        ),
        on_fatal=foundation.runner.fail,
    )


def _now() -> datetime:
    return datetime.now(UTC)
