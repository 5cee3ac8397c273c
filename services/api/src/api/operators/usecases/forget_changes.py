"""Lets go of what operators changed long ago: the log of changes is kept for a time, and not for ever."""

from dataclasses import dataclass
from datetime import timedelta

from prometheus_client import Counter

from api.operators.store import audit
from chassis.clock import Clock
from chassis.database import Database
from chassis.retention import deleted_total
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry

logger = get_logger(__name__)

BATCH = 1_000
_MARGIN = timedelta(minutes=1)
"""The database's clock has the last word; ours may be a little ahead of it."""

forgotten_total = Counter(
    "pilot_api_audit_entries_forgotten_total", "Entries of the log of changes deleted for their age", registry=registry
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetChanges:
    """Deletes a bounded number at a time, the oldest first; nothing else can delete an entry."""

    database: Database
    clock: Clock
    kept_days: int

    async def step(self) -> bool:
        """Whether there may be more to delete."""
        before = self.clock() - timedelta(days=self.kept_days) - _MARGIN
        async with self.database.transaction() as tx:
            count = await audit.forget_entries(tx, kept_days=self.kept_days, before=before, limit=BATCH)
        if count:
            forgotten_total.inc(count)
            deleted_total.labels(kind="audit_entry").inc(count)
            logger.info("audit_entries_forgotten", count=count, kept_days=self.kept_days)
        return count >= BATCH
