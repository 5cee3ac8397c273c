"""Reading the log of changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.operators.domain import AuditEntry, AuditFilter
from api.operators.store import audit
from chassis.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAudit:
    """Reads only; nothing in the api changes or deletes an entry."""

    database: Database

    async def page(self, wanted: AuditFilter, *, limit: int) -> Sequence[AuditEntry]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await audit.list_entries(tx, wanted, limit=limit)
