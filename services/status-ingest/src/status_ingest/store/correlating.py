"""Whose key is whose: every statement here locks the rows of its keys, in sorted order."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Text, func, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from contracts.values import MessageRef
from status_ingest.domain.findings import NO_INSTANCE, MessageKey
from status_ingest.store.given import keys_as_rows
from status_ingest.tables import correlations, receipts


async def lock_correlations(tx: Transaction, keys: Sequence[MessageKey]) -> dict[MessageKey, MessageRef]:
    """Make sure that a row exists for each key (sorted), lock it, and return the messages that are known."""
    rows = select(*keys_as_rows(keys).c)
    locked = upsert(correlations).from_select(["instance", "key_id"], rows)
    locked = locked.on_conflict_do_update(
        index_elements=["instance", "key_id"], set_={"key_id": locked.excluded.key_id}
    )
    return _refs(await tx.execute(locked.returning(correlations)))


async def learn_refs(tx: Transaction, refs: Mapping[MessageKey, MessageRef]) -> dict[MessageKey, MessageRef]:
    """Lock the rows in order and tell them their message; the one they know already stays. Returns what holds."""
    keys = sorted(refs)
    documents = [refs[key].model_dump_json() for key in keys]
    given = keys_as_rows(keys, document=(Text(), documents))
    rows = select(given.c.instance, given.c.key_id, given.c.document.cast(JSONB))
    learnt = upsert(correlations).from_select(["instance", "key_id", "ref"], rows)
    learnt = learnt.on_conflict_do_update(
        index_elements=["instance", "key_id"],
        set_={"ref": func.coalesce(correlations.c.ref, learnt.excluded.ref)},
    )
    return _refs(await tx.execute(learnt.returning(correlations)))


async def mark_echoed(tx: Transaction, keys: Sequence[MessageKey]) -> set[MessageKey]:
    """Those of `keys` whose echo was never seen before."""
    given = keys_as_rows(keys)
    marked = (
        update(correlations)
        .where(correlations.c.instance == given.c.instance, correlations.c.key_id == given.c.key_id)
        .where(correlations.c.echoed_at.is_(None))
        .values(echoed_at=func.clock_timestamp())
    )
    rows = await tx.execute(marked.returning(correlations.c.instance, correlations.c.key_id))
    return {MessageKey(instance=row.instance, key_id=row.key_id) for row in rows}


async def find_homes(tx: Transaction, *, limit: int) -> list[MessageKey]:
    """The keys of parked receipts without an instance that exactly one message of ours has; nothing is locked."""
    is_homeless = receipts.c.recorded_at.is_(None) & (receipts.c.instance == NO_INSTANCE)
    is_theirs = (correlations.c.key_id == receipts.c.key_id) & correlations.c.ref.is_not(None)
    found = (
        select(receipts.c.key_id, func.min(correlations.c.instance).label("instance"))
        .join(correlations, is_theirs)
        .where(is_homeless)
        .group_by(receipts.c.key_id)
        .having(func.count(correlations.c.instance.distinct()) == 1)
        .limit(limit)
    )
    return sorted(MessageKey(instance=row.instance, key_id=row.key_id) for row in await tx.execute(found))


def _refs(rows: Any) -> dict[MessageKey, MessageRef]:
    return {
        MessageKey(instance=row.instance, key_id=row.key_id): MessageRef.model_validate(row.ref)
        for row in rows
        if row.ref is not None
    }
