"""Learns from the dispatcher which message a WhatsApp key belongs to, and tells the receipts that waited for it."""

from collections.abc import Sequence
from typing import assert_never

from chassis.database import Transaction
from contracts.facts import MessageDispatched, MessageUncertain
from contracts.values import MessageRef
from gateways.reserved import reserved_id
from status_ingest import store
from status_ingest.domain.findings import MessageKey, receipt_fact

Named = MessageDispatched | MessageUncertain
"""Facts that name a key: the one a message has, or the one that was reserved for it and that it has if it was sent."""


async def learn_keys(tx: Transaction, facts: Sequence[Named]) -> Sequence[None]:
    """The write of a group commit. Repeats find nothing parked and say nothing."""
    refs: dict[MessageKey, MessageRef] = {}
    for fact in facts:
        refs.setdefault(MessageKey(instance=fact.ref.instance, key_id=key_id_of(fact)), fact.ref)
    known = await store.learn_refs(tx, refs)
    released = await store.release_parked(tx, known.keys())
    tx.emit(*(receipt_fact(known[receipt.key.message], receipt) for receipt in released))
    return [None] * len(facts)


def key_id_of(fact: Named) -> str:
    """A reserved id that no gateway honoured is nobody's: knowing it is harmless."""
    match fact:
        case MessageDispatched():
            return fact.key_id
        case MessageUncertain():
            return reserved_id(fact.ref.message_id, fact.ref.round)
    assert_never(fact)
