"""Keeps the schema small: what has served its purpose is deleted in chunks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Counter, Gauge

from chassis.database import Database
from chassis.retention import deleted_total
from chassis.telemetry.metrics import registry
from status_ingest import store

parked_receipts = Gauge(
    "pilot_status_ingest_parked_receipts",
    "Receipts whose message is not known yet.",
    registry=registry,
)
homeless_receipts = Gauge(
    "pilot_status_ingest_homeless_receipts",
    "Of them, those whose event named no instance and whose key no message of ours has, or several have.",
    registry=registry,
)
forgotten_total = Counter(
    "pilot_status_ingest_forgotten_total",
    "Rows deleted at the end of their retention, by kind.",
    ["kind"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long each kind of row is kept."""

    raw: timedelta = timedelta(hours=24)
    parked: timedelta = timedelta(hours=48)
    correlated: timedelta = timedelta(days=30)
    quarantined: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOld:
    """One chunk of each kind per step, each in a short transaction of its own."""

    database: Database
    retention: Retention = Retention()
    chunk_size: int = 2_000

    async def step(self, now: datetime | None = None) -> bool:
        """Delete what is due; True if a chunk was full. `now` is for tests, else the database's clock counts."""
        keep = self.retention
        counts = [
            await self._forget("raw_event", store.forget_raw_events, keep.raw, now),
            await self._forget("parked_receipt", store.forget_parked, keep.parked, now),
            await self._forget("unmatched_key", store.forget_unmatched, keep.parked, now),
            await self._forget("matched_key", store.forget_matched, keep.correlated, now),
            await self._forget("receipt", store.forget_recorded, keep.correlated, now),
            await self._forget("quarantined", store.forget_quarantined, keep.quarantined, now),
            await self._forget("connection", store.forget_connections, keep.correlated, now),
            await self._forget("traffic", store.forget_traffic, keep.correlated, now),
            await self._forget("lid", store.forget_lids, keep.correlated, now),
        ]
        async with self.database.transaction() as tx:
            parked_receipts.set(await store.count_parked(tx))
            homeless_receipts.set(await store.count_homeless(tx))
        return self.chunk_size in counts

    async def _forget(
        self, kind: str, forget: Callable[..., Awaitable[int]], age: timedelta, now: datetime | None
    ) -> int:
        async with self.database.transaction() as tx:
            count = await forget(tx, age, now=now, limit=self.chunk_size)
        forgotten_total.labels(kind=kind).inc(count)
        deleted_total.labels(kind=kind).inc(count)
        return count
