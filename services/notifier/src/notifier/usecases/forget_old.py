"""Deletes deliveries, their attempts and purged numbers after their retention, in small bites.

What was sent about a purged number goes at once, as soon as it is over.
"""

from dataclasses import dataclass
from datetime import timedelta

from chassis.clock import Clock
from chassis.database import Database
from chassis.retention import deleted_total
from notifier.domain.settlement import oldest_id
from notifier.store import deliveries, log, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOld:
    """Retention by age of the delivery, whatever became of it."""

    database: Database
    clock: Clock
    retention: timedelta
    bite: int = 2_000

    async def __call__(self) -> bool:
        """One bite of each table; True if there may be more."""
        before = oldest_id(self.clock() - self.retention)
        async with self.database.transaction() as tx:
            forgotten = await deliveries.forget_deliveries(tx, before=before, limit=self.bite)
        async with self.database.transaction() as tx:
            attempts = await deliveries.forget_attempts(tx, before=before, limit=self.bite)
        async with self.database.transaction() as tx:
            purged = await numbers.forget_purged(tx, before=self.clock() - self.retention, limit=self.bite)
        async with self.database.transaction() as tx:
            erased = await log.erase_purged(tx, limit=self.bite)
        for kind, count in (("delivery", forgotten), ("delivery_attempt", attempts), ("purged_number", purged)):
            deleted_total.labels(kind=kind).inc(count)
        return max(forgotten, attempts, purged, erased) >= self.bite
