"""What every service measures of its retention: rows deleted, and how old the oldest is that is still kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from prometheus_client import Counter, Gauge
from sqlalchemy import Column, ColumnElement, select

from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.loop import Loop
from chassis.telemetry.metrics import registry

MEASURE_SECONDS: Final = 60.0
_UNIX_MS_SHIFT: Final = 80
"""Of a UUIDv7 the first 48 of 128 bits are Unix milliseconds."""

deleted_total = Counter(
    "pilot_retention_deleted_total",
    "Rows deleted or emptied at the end of their retention.",
    ["kind"],
    registry=registry,
)
oldest_seconds = Gauge(
    "pilot_retention_oldest_seconds",
    "Age of the oldest row of a kind that has an end; growing beyond the kind's retention means it is not worked off.",
    ["kind"],
    registry=registry,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kept:
    """Rows that have an end. `since` is an instant or a UUIDv7 and leads an index whose condition is `where`."""

    kind: str
    since: Column[Any]
    where: ColumnElement[bool] | None = None

    async def oldest(self, tx: Transaction) -> datetime | None:
        """From when the oldest row is."""
        query = select(self.since).where(self.since.is_not(None)).order_by(self.since).limit(1)
        if self.where is not None:
            query = query.where(self.where)
        value = (await tx.execute(query)).scalar_one_or_none()
        if value is None or isinstance(value, datetime):
            return value
        return datetime.fromtimestamp((value.int >> _UNIX_MS_SHIFT) / 1_000, tz=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRetention:
    """Sets the gauge; each look is one probe of an index."""

    database: Database
    kinds: Sequence[Kept]
    clock: Clock

    async def step(self) -> bool:
        """All kinds once."""
        now = self.clock()
        for kept in self.kinds:
            async with self.database.transaction() as tx:
                oldest = await kept.oldest(tx)
            age = now - oldest if oldest is not None else timedelta(0)
            oldest_seconds.labels(kind=kept.kind).set(max(age.total_seconds(), 0.0))
        return False


def measuring_loop(database: Database, kinds: Sequence[Kept], clock: Clock) -> Loop:
    """In every process: what one of them deletes, all of them see gone."""
    step = MeasureRetention(database=database, kinds=kinds, clock=clock).step
    return Loop("measuring-retention", step, interval_seconds=MEASURE_SECONDS)
