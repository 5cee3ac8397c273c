"""Brings what rests sealed under the active key, in bites, so that an old key can be taken out of the ring."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prometheus_client import Gauge

from chassis.database import Database, Transaction
from chassis.loop import Loop
from chassis.seal import KeyRing, SealError
from chassis.sealed_columns import UNREADABLE, Key, SealedColumn
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry

logger = get_logger(__name__)

BITE: Final = 200
LOCK_TRIES: Final = 20
LOCK_PAUSE_SECONDS: Final = 0.05
ROTATING_SECONDS: Final = 3_600.0
RESTING_SECONDS: Final = 86_400.0
"""Between two passes: while the ring holds more than one key, and while there is nothing to bring anywhere."""

sealed_rows = Gauge(
    "pilot_sealed_rows",
    "Sealed values at the end of the last pass, by column and key; a key without any may leave the ring.",
    ["column", "key_id"],
    registry=registry,
)

Census = Counter[tuple[str, str]]
"""How many rows hold a seal, by column and key id."""


@dataclass(slots=True, kw_only=True)
class Resealing:
    """A pass goes through every declared column by primary key; rows under another key are sealed anew on the way.

    Rows are locked only if nobody holds them, and written in short transactions, so others hardly notice. A crash
    loses nothing but the place: the next pass finds most of the work done. `census` holds the last whole pass.
    """

    database: Database
    ring: KeyRing
    columns: Sequence[SealedColumn]
    only_counts: bool = False
    bite: int = BITE
    census: Census = field(default_factory=Counter)
    _counted: Census = field(default_factory=Counter)
    _place: int = 0
    _after: Key | None = None

    async def step(self) -> bool:
        """One bite; False at the end of a pass."""
        if self._place < len(self.columns):
            column = self.columns[self._place]
            last = await self._bite(column)
            self._after = last
            self._place += last is None
        if self._place < len(self.columns):
            return True
        self._end()
        return False

    async def whole_pass(self) -> Census:
        """All bites, one after the other."""
        while await self.step():
            pass
        return self.census

    async def _bite(self, column: SealedColumn) -> Key | None:
        """The last row seen; None if these were the last ones. What others hold is tried again for a while."""
        for trial in range(LOCK_TRIES):
            async with self.database.transaction() as tx:
                rows = await column.page(tx, after=self._after, limit=self.bite)
                found = {key: self._key_ids(column, value, owner) for key, owner, value in rows if value is not None}
                stale = [key for key, ids in found.items() if self._is_stale(ids)]
                fresh = await self._reseal(tx, column, stale) if stale and not self.only_counts else set()
            if len(fresh) == len(stale) or self.only_counts or trial == LOCK_TRIES - 1:
                break
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        for key, ids in found.items():
            for key_id in {self.ring.active_key_id} if key in fresh else ids:
                self._counted[column.name, key_id] += 1
        return rows[-1][0] if len(rows) == self.bite else None

    async def _reseal(self, tx: Transaction, column: SealedColumn, stale: Sequence[Key]) -> set[Key]:
        fresh: dict[Key, Any] = {}
        for key, (owner, value) in sorted((await column.locked(tx, stale)).items()):
            try:
                fresh[key] = column.refreshed(value, owner, self.ring)
            except SealError as error:
                logger.error("seal_not_renewed", table=column.table.name, error=error)
        if fresh:
            await column.write(tx, fresh)
        return set(fresh)

    def _is_stale(self, ids: set[str]) -> bool:
        """Under another key of the ring. What no key of the ring opens is counted and left."""
        return bool(ids - {self.ring.active_key_id}) and ids <= self.ring.key_ids

    def _key_ids(self, column: SealedColumn, value: Any, owner: Any) -> set[str]:
        try:
            return column.key_ids(value, owner, self.ring)
        except SealError:
            return {UNREADABLE}

    def _end(self) -> None:
        self.census, self._counted = self._counted, Counter()
        self._place, self._after = 0, None
        sealed_rows.clear()
        for (column, key_id), rows in self.census.items():
            sealed_rows.labels(column=column, key_id=key_id).set(rows)


def resealing_loop(database: Database, ring: KeyRing, columns: Sequence[SealedColumn]) -> Loop:
    """In every process, beside its work; replicas share it by what they find locked or done."""
    interval = ROTATING_SECONDS if len(ring.key_ids) > 1 else RESTING_SECONDS
    return Loop("resealing", Resealing(database=database, ring=ring, columns=columns).step, interval_seconds=interval)


def report(census: Census, ring: KeyRing) -> str:
    """One line per column and key, and what it means."""
    lines = [f"{column:<40} {key_id:<34} {rows:>10}" for (column, key_id), rows in sorted(census.items())]
    strange = {key_id for _, key_id in census} - {ring.active_key_id}
    verdict = f"still in use beside {ring.active_key_id}: {', '.join(sorted(strange))}" if strange else "all under "
    return "\n".join([*lines, verdict if strange else verdict + ring.active_key_id]) + "\n"
