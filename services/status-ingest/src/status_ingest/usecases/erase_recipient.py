"""Deletes posted events that name a person who must be forgotten: what they hold is sealed, so each one is opened."""

from dataclasses import dataclass

from chassis.database import Database
from chassis.erasing import BITE, erase_rows
from chassis.retention import deleted_total
from chassis.seal import KeyRing
from contracts.facts import RecipientErased
from gateways.recipients import names_recipient
from status_ingest.tables import ERASABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseRecipient:
    """Of whatever number: an event of one tenant may name the other's recipient, and has served its purpose.

    An event that waits to be interpreted is left to that, and deleted the next time the fact is heard, or with its age.
    """

    database: Database
    key_ring: KeyRing
    bite: int = BITE

    async def __call__(self, fact: RecipientErased) -> int:
        """How many events were deleted; raises `SealError` if the fact itself cannot be opened."""
        digits = self.key_ring.open(fact.sealed_recipient, aad=fact.erasure_id.bytes).decode()

        def names(plaintext: bytes) -> bool:
            return names_recipient(plaintext.decode("utf-8", "replace"), digits)

        erased = sum([await erase_rows(self.database, self.key_ring, each, names, bite=self.bite) for each in ERASABLE])
        deleted_total.labels(kind="erased_event").inc(erased)
        return erased
