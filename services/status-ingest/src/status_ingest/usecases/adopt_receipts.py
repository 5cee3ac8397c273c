"""Finds a home for receipts whose event named no instance: the message of ours that has their key, if one alone has."""

from dataclasses import dataclass

from chassis.database import Database
from status_ingest import store
from status_ingest.domain.findings import NO_INSTANCE, MessageKey, at_home, receipt_fact

KEYS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptReceipts:
    """Works in either order of receipt and message, on any replica; what two messages could claim nobody gets."""

    database: Database

    async def step(self) -> bool:
        """One batch; True if there may be more."""
        async with self.database.transaction() as tx:
            homes = await store.find_homes(tx, limit=KEYS_AT_ONCE)
            if not homes:
                return False
            refs = await store.lock_correlations(tx, homes)
            homeless = [MessageKey(instance=NO_INSTANCE, key_id=home.key_id) for home in homes]
            released = await store.release_parked(tx, homeless)
            adopted = [at_home(receipt, refs) for receipt in released]
            fresh = await store.insert_receipts(tx, adopted, known=refs.keys()) if adopted else set()
            tx.emit(*(receipt_fact(refs[one.key.message], one) for one in adopted if one.key in fresh))
        return len(homes) == KEYS_AT_ONCE
