"""Removes what is left of deleted endpoints, in small bites."""

from dataclasses import dataclass
from datetime import timedelta

from chassis.clock import Clock
from chassis.database import Database
from chassis.retention import deleted_total
from notifier.store import endpoints, log

ENDPOINTS_AT_ONCE_MAX = 20
SETTLING = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetDeleted:
    """Deliveries and attempts first, the endpoint last; not before plans that still saw the endpoint have ended."""

    database: Database
    clock: Clock
    bite: int = 2_000

    async def __call__(self) -> bool:
        """One bite of each of a few endpoints; True if there is more."""
        async with self.database.transaction() as tx:
            gone = await endpoints.deleted_endpoints(tx, before=self.clock() - SETTLING, limit=ENDPOINTS_AT_ONCE_MAX)
        more = len(gone) == ENDPOINTS_AT_ONCE_MAX
        for endpoint_id in gone:
            async with self.database.transaction() as tx:
                deliveries = await log.forget_deliveries_of(tx, endpoint_id, limit=self.bite)
                attempts = await log.forget_attempts_of(tx, endpoint_id, limit=self.bite)
                await endpoints.forget_endpoint(tx, endpoint_id)
            deleted_total.labels(kind="delivery").inc(deliveries)
            deleted_total.labels(kind="delivery_attempt").inc(attempts)
            more = more or max(deliveries, attempts) >= self.bite
        return more
