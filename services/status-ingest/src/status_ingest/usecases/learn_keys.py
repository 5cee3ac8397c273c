"""Learns from the dispatcher which message a WhatsApp key belongs to, and tells the receipts that waited for it."""

from collections.abc import Sequence

from chassis.database import Transaction
from contracts.facts import MessageDispatched
from contracts.values import MessageRef
from status_ingest import store
from status_ingest.domain.findings import MessageKey, receipt_fact


async def learn_keys(tx: Transaction, dispatched: Sequence[MessageDispatched]) -> Sequence[None]:
    """The write of a group commit. Repeats find nothing parked and say nothing."""
    refs: dict[MessageKey, MessageRef] = {}
    for fact in dispatched:
        refs.setdefault(MessageKey(instance=fact.ref.instance, key_id=fact.key_id), fact.ref)
    known = await store.learn_refs(tx, refs)
    released = await store.release_parked(tx, known.keys())
    tx.emit(*(receipt_fact(known[receipt.key.message], receipt) for receipt in released))
    return [None] * len(dispatched)
