"""Measures what waits to be sent, for the people on call."""

from dataclasses import dataclass

from prometheus_client import Gauge

from chassis.clock import Clock
from chassis.database import Database
from chassis.telemetry.metrics import registry
from notifier.store import deliveries

COUNTED_MAX = 100_000

pending = Gauge(
    "pilot_notifier_pending_deliveries",
    f"Deliveries waiting for active endpoints, counted up to {COUNTED_MAX}",
    registry=registry,
)
overdue = Gauge("pilot_notifier_overdue_seconds", "How long the most overdue of them has been due", registry=registry)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBacklog:
    """Every replica reports the same: the whole service's backlog."""

    database: Database
    clock: Clock

    async def __call__(self) -> bool:
        """Measure once; there is never more to do at once."""
        async with self.database.transaction() as tx:
            backlog = await deliveries.count_pending(tx, up_to=COUNTED_MAX)
        pending.set(backlog.pending)
        due_at = backlog.oldest_due_at
        overdue.set(max((self.clock() - due_at).total_seconds(), 0) if due_at else 0)
        return False
