"""Keeps the schema small: closed messages and old dead letters are deleted in chunks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter

from chassis.database import Database
from chassis.retention import deleted_total
from chassis.telemetry.metrics import registry
from reconciler.store import dead_letters, ledger

forgotten_total = Counter(
    "pilot_reconciler_forgotten_total",
    "Rows deleted at the end of their retention, by kind.",
    ["kind"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOld:
    """One chunk of each kind per step, each in a short transaction of its own."""

    database: Database
    closed: timedelta = timedelta(days=7)
    dead: timedelta = timedelta(days=30)
    chunk_size: int = 2_000

    async def step(self, now: datetime | None = None) -> bool:
        """Delete what is due; True if a chunk was full. `now` is for tests, else the database's clock counts."""
        async with self.database.transaction() as tx:
            closed = await ledger.forget_closed(tx, self.closed, now=now, limit=self.chunk_size)
        async with self.database.transaction() as tx:
            dead = await dead_letters.forget_dead_letters(tx, self.dead, now=now, limit=self.chunk_size)
        forgotten_total.labels(kind="closed_message").inc(closed)
        forgotten_total.labels(kind="dead_letter").inc(dead)
        deleted_total.labels(kind="closed_message").inc(closed)
        deleted_total.labels(kind="dead_letter").inc(dead)
        return self.chunk_size in (closed, dead)
