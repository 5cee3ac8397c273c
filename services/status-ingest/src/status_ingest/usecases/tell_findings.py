"""Joins what events said with what is known, keeps it, and tells the platform what of it is new."""

from collections.abc import Collection, Sequence

from chassis.database import Transaction
from contracts.facts import EchoObserved
from status_ingest import store
from status_ingest.domain.connections import Sighting, seen
from status_ingest.domain.findings import Findings, HeardReceipt, MessageKey, key_of, keys_of, named, receipt_fact
from status_ingest.store import numbers


async def tell_findings(tx: Transaction, said: Findings) -> Findings:
    """What was new. Locks correlations first, then numbers, each in sorted order."""
    return Findings(
        receipts=await _tell_receipts(tx, said),
        homeless=await _keep(tx, said.homeless, known=()),
        echoes=await _tell_echoes(tx, said),
        connections=await _tell_connections(tx, said.connections),
    )


async def _tell_receipts(tx: Transaction, said: Findings) -> tuple[HeardReceipt, ...]:
    """The rows that echoes are marked on are locked here, too."""
    keys = keys_of(said)
    if not keys:
        return ()
    refs = await store.lock_correlations(tx, keys)
    fresh = await _keep(tx, said.receipts, known=refs)
    known = [receipt for receipt in fresh if receipt.key.message in refs]
    tx.emit(*(receipt_fact(refs[receipt.key.message], receipt) for receipt in known))
    return fresh


async def _keep(
    tx: Transaction, receipts: Sequence[HeardReceipt], *, known: Collection[MessageKey]
) -> tuple[HeardReceipt, ...]:
    kept = await store.insert_receipts(tx, receipts, known=known) if receipts else ()
    return tuple(receipt for receipt in receipts if receipt.key in kept)


async def _tell_echoes(tx: Transaction, said: Findings) -> tuple[EchoObserved, ...]:
    """An echo is told once; whoever was ever named both ways is known when an echo names only the LID."""
    if said.behind_lids:
        await numbers.learn_lids(tx, said.behind_lids)
    if not said.echoes:
        return ()
    unseen = await store.mark_echoed(tx, [key_of(echo) for echo in said.echoes])
    asked = {lid for key, lid in said.nameless.items() if key in unseen}
    known = await numbers.people_behind(tx, asked) if asked else {}
    fresh = tuple(named(echo, said.nameless, known) for echo in said.echoes if key_of(echo) in unseen)
    tx.emit(*fresh)
    return fresh


async def _tell_connections(tx: Transaction, sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Follow each number through its sightings in the order of their arrival; the ones that were told at once."""
    if not sightings:
        return ()
    known = await numbers.lock_connections(tx, {sighting.instance for sighting in sightings})
    told: list[Sighting] = []
    for sighting in sorted(sightings, key=lambda sighting: sighting.seen_at):
        known[sighting.instance], fact = seen(known[sighting.instance], sighting)
        if fact is not None:
            tx.emit(fact)
            told.append(sighting)
    await numbers.save_connections(tx, list(known.values()))
    return tuple(told)
