"""Forgetting what was said and to whom, for a number that is gone or one that does not keep messages for ever."""

from dataclasses import dataclass
from uuid import UUID

from api.messages.store import forgetting
from chassis.database import Database

BATCH = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetContent:
    """In batches, each a transaction of its own; repeating it is harmless."""

    database: Database

    async def of_number(self, number_id: UUID) -> None:
        """Returns once nothing is left."""
        forgotten = BATCH
        while forgotten == BATCH:
            async with self.database.transaction() as tx:
                forgotten = await forgetting.forget_number(tx, number_id, limit=BATCH)

    async def expired(self) -> bool:
        """One batch; True if there may be more."""
        async with self.database.transaction() as tx:
            return await forgetting.forget_expired(tx, limit=BATCH) >= BATCH
