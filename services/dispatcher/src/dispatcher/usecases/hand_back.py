"""After a restore nothing that was unfinished in the dump is trusted: the second memory says what is still owed."""

from dataclasses import dataclass
from datetime import datetime

from chassis.database import Database
from chassis.telemetry.logs import get_logger
from contracts.facts import MessageReturned
from dispatcher.store import restoring

logger = get_logger(__name__)

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBack:
    """What was sent, canceled or failed since the dump would be sent by this memory; the ledger knows better."""

    database: Database

    async def step(self, restored_at: datetime) -> bool:
        """Give back one batch, jobs and facts in one commit; True while there is more, be it in another's hands."""
        async with self.database.transaction() as tx:
            taken = await restoring.take_out(tx, restored_at, limit=BATCH)
            tx.emit(
                *(
                    MessageReturned(
                        ref=accepted.ref, accepted=accepted, possibly_sent=may_have_left, returned_at=restored_at
                    )
                    for accepted, may_have_left in taken
                )
            )
        if taken:
            logger.warning("jobs_returned", count=len(taken))
            return True
        async with self.database.transaction() as tx:
            return await restoring.is_any_left(tx, restored_at)
