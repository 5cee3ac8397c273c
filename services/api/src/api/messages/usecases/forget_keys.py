"""Keeps idempotency keys and counters from piling up."""

from dataclasses import dataclass

from api.limits.store import forget_usage
from api.messages.store.claiming import forget_keys
from chassis.clock import Clock
from chassis.database import Database
from chassis.retention import deleted_total

BATCH = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetKeys:
    """Drops, a bounded number at a time, what is remembered no longer."""

    database: Database
    clock: Clock

    async def step(self) -> bool:
        """Whether there is more to drop."""
        async with self.database.transaction() as tx:
            keys = await forget_keys(tx, now=self.clock(), limit=BATCH)
            counters = await forget_usage(tx, limit=BATCH)
        deleted_total.labels(kind="idempotency_key").inc(keys)
        deleted_total.labels(kind="usage").inc(counters)
        return max(keys, counters) >= BATCH
