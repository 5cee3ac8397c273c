"""Finds rows by what they hold sealed, and deletes them: in bites, each row opened once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement

from chassis.database import Database
from chassis.seal import KeyRing, SealError
from chassis.sealed_columns import SealedColumn

BITE: Final = 200


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Erasable:
    """Rows that may be deleted for what they hold; those outside `where` are still needed, and pass."""

    sealed: SealedColumn
    where: ColumnElement[bool] | None = None


async def erase_rows(
    database: Database, ring: KeyRing, erasable: Erasable, is_wanted: Callable[[bytes], bool], *, bite: int = BITE
) -> int:
    """Delete every row whose plaintext is wanted; how many. What cannot be opened stays until its retention ends."""
    erased, after = 0, None
    while True:
        async with database.transaction() as tx:
            rows = await erasable.sealed.page(tx, after=after, limit=bite, whole=True)
            wanted = [key for key, owner, value in rows if value is not None and _holds(ring, owner, value, is_wanted)]
            erased += await erasable.sealed.delete(tx, wanted, where=erasable.where) if wanted else 0
        if len(rows) < bite:
            return erased
        after = rows[-1][0]


def _holds(ring: KeyRing, owner: Any, value: str, is_wanted: Callable[[bytes], bool]) -> bool:
    try:
        return is_wanted(ring.open(value, aad=owner.bytes))
    except SealError:
        return False
