"""Tells of drops that were taken for passing ones and lasted."""

from dataclasses import dataclass
from datetime import datetime

from chassis.database import Database
from status_ingest.domain.connections import lasted
from status_ingest.store import numbers

NUMBERS_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleConnections:
    """Any replica; each number is locked while it is told of."""

    database: Database

    async def step(self, now: datetime | None = None) -> bool:
        """One batch; True if there may be more. `now` is for tests, else the database's clock says who is due."""
        async with self.database.transaction() as tx:
            due = await numbers.take_unsettled(tx, now=now, limit=NUMBERS_AT_ONCE)
            settled = [lasted(one, now=judged_at) for one, judged_at in due]
            tx.emit(*(fact for _, fact in settled if fact is not None))
            if settled:
                await numbers.save_connections(tx, [one for one, _ in settled])
        return len(due) == NUMBERS_AT_ONCE
