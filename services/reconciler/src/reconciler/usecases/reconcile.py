"""One pass over the ledger: what fell silent is put back to work, what nobody worked in time gets its verdict."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from prometheus_client import Counter, Gauge

from chassis.database import Database
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from reconciler.domain.ledger import Hearing, requeue, verdict
from reconciler.domain.overdue import REPEATS_FROM
from reconciler.store import ledger, reporting

logger = get_logger(__name__)

requeued_total = Counter(
    "pilot_reconciler_requeued_total",
    "Messages put back to work, by the last evidence there was.",
    ["evidence"],
    registry=registry,
)
requeued_unanswered_total = Counter(
    "pilot_reconciler_requeued_unanswered_total",
    "Messages put back to work again although the last request was never answered.",
    registry=registry,
)
lost_total = Counter(
    "pilot_reconciler_lost_total", "Messages given up because nobody worked them.", ["error_code"], registry=registry
)
open_messages = Gauge("pilot_reconciler_open", "Messages whose end is not known.", registry=registry)
repeated_messages = Gauge(
    "pilot_reconciler_repeated",
    f"Open messages that were asked for {REPEATS_FROM} times or more: somebody should look.",
    registry=registry,
)


@dataclass(slots=True, kw_only=True)
class Reconcile:
    """Any number of replicas pass at once: each row is claimed by one of them.

    A verdict needs `recovery_sla` (None: no verdicts) and a request that the dispatcher could have answered: made while
    the broker was connected, and a whole `interval` ago.
    """

    database: Database
    interval: timedelta
    recovery_sla: timedelta | None
    is_connected: Callable[[], bool]
    clock: Callable[[], datetime]
    batch_size: int = 500
    hearing: Hearing = field(default_factory=Hearing)

    async def step(self, now: datetime | None = None) -> bool:
        """One batch of each kind; True if there may be more. `now` is for tests, else the database's clock counts."""
        self.hearing = self.hearing.observed(is_connected=self.is_connected(), now=now or self.clock())
        lost = await self._give_up(now)
        requeued = await self._requeue(now)
        async with self.database.transaction() as tx:
            open_messages.set(await ledger.count_open(tx))
            repeated_messages.set(await reporting.count_repeated(tx))
        return self.batch_size in (lost, requeued)

    async def _requeue(self, now: datetime | None) -> int:
        async with self.database.transaction() as tx:
            found = await ledger.claim_suspicious(tx, interval=self.interval, limit=self.batch_size, now=now)
            tx.emit(*(requeue(item) for item in found))
        for item in found:
            requeued_total.labels(evidence=item.evidence.value).inc()
            if item.is_unanswered:
                requeued_unanswered_total.inc()
                ref = item.accepted.ref
                logger.warning("message_requeued_again", message_id=ref.message_id, attempts=item.requeues)
        return len(found)

    async def _give_up(self, now: datetime | None) -> int:
        if self.recovery_sla is None or self.hearing.since is None:
            return 0
        async with self.database.transaction() as tx:
            found = await ledger.claim_forsaken(
                tx,
                recovery_sla=self.recovery_sla,
                patience=self.interval,
                hearing_since=self.hearing.since,
                limit=self.batch_size,
                now=now,
            )
            verdicts = [verdict(item) for item in found]
            tx.emit(*verdicts)
        for lost in verdicts:
            lost_total.labels(error_code=lost.error_code.value).inc()
            logger.error("message_lost", message_id=lost.ref.message_id, error_code=lost.error_code.value)
        return len(found)
