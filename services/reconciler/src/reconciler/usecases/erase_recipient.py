"""Forgets a person here: contents in the ledger that nobody needs, and dead letters that hold anything of theirs."""

import json
from dataclasses import dataclass
from uuid import UUID

from chassis.database import Database
from chassis.erasing import BITE, Erasable, erase_rows
from chassis.retention import deleted_total
from chassis.seal import KeyRing
from chassis.sealed_documents import opened_in
from contracts.facts import RecipientErased
from gateways.recipients import names_recipient
from reconciler.store import erasing
from reconciler.store.erasing import EntryKey
from reconciler.tables import SEALED_ENTRIES, SEALED_LETTERS

LETTERS = Erasable(sealed=SEALED_LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseRecipient:
    """In bites; repeating it is harmless.

    An entry of a message that may still have to be put to work keeps its content until it is closed, which wipes it.
    """

    database: Database
    key_ring: KeyRing
    bite: int = BITE

    async def __call__(self, fact: RecipientErased) -> None:
        """Raises `SealError` if the fact itself cannot be opened."""
        digits = self.key_ring.open(fact.sealed_recipient, aad=fact.erasure_id.bytes).decode()
        wanted = _Wanted(fact=fact, digits=digits, key_ring=self.key_ring)
        erased = await erase_rows(self.database, self.key_ring, LETTERS, wanted.is_in, bite=self.bite)
        deleted_total.labels(kind="erased_letter").inc(erased)
        deleted_total.labels(kind="erased_entry").inc(await self._erase_entries(fact))

    async def _erase_entries(self, fact: RecipientErased) -> int:
        """A seal of nothing takes the place of the content, so that the entry stays what it is."""
        erased, last = 0, None
        while True:
            async with self.database.transaction() as tx:
                found = await erasing.needless_contents(
                    tx,
                    recipient_hash=fact.recipient_hash,
                    tenant_id=fact.tenant_id,
                    after=last,
                    limit=self.bite,
                )
                if found:
                    await SEALED_ENTRIES.write(tx, {key: self._nothing(key) for key in found})
            erased += len(found)
            if len(found) < self.bite:
                return erased
            last = found[-1]

    def _nothing(self, key: EntryKey) -> str:
        return self.key_ring.seal(b"", aad=key[0].bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a dead letter has to hold to be deleted: the number, its hash, or a content for the number."""

    fact: RecipientErased
    digits: str
    key_ring: KeyRing

    def is_in(self, body: bytes) -> bool:
        text = body.decode("utf-8", "replace")
        if not self._may_be_theirs(body):
            return False
        return (
            self.fact.recipient_hash in text
            or names_recipient(text, self.digits)
            or any(
                names_recipient(inner.decode("utf-8", "replace"), self.digits)
                for inner in opened_in(body, self.key_ring)
            )
        )

    def _may_be_theirs(self, body: bytes) -> bool:
        """A letter that says it is another tenant's is none of this one's."""
        tenant_id = _tenant_of(body)
        return self.fact.tenant_id is None or tenant_id is None or tenant_id == self.fact.tenant_id


def _tenant_of(body: bytes) -> UUID | None:
    try:
        document = json.loads(body)
        ref = document.get("ref", document)
        return UUID(ref["tenant_id"])
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
