"""Receipts: each kept once, parked until its message is known."""

from collections.abc import Collection, Sequence

from sqlalchemy import Boolean, DateTime, Text, case, func, null, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from status_ingest.domain.findings import NO_INSTANCE, HeardReceipt, MessageKey, ReceiptKey
from status_ingest.store.given import heard_receipt, keys_as_rows
from status_ingest.tables import receipts


async def insert_receipts(
    tx: Transaction, heard: Sequence[HeardReceipt], *, known: Collection[MessageKey]
) -> set[ReceiptKey]:
    """Keep each report once, parked unless its message is known; the ones never kept before."""
    given = keys_as_rows(
        [receipt.key.message for receipt in heard],
        status=(Text(), [receipt.key.status.value for receipt in heard]),
        occurred_at=(DateTime(timezone=True), [receipt.occurred_at for receipt in heard]),
        is_known=(Boolean(), [receipt.key.message in known for receipt in heard]),
    )
    recorded_at = case((given.c.is_known, func.clock_timestamp()), else_=null())
    rows = select(given.c.instance, given.c.key_id, given.c.status, given.c.occurred_at, recorded_at)
    kept = upsert(receipts).from_select(["instance", "key_id", "status", "occurred_at", "recorded_at"], rows)
    return {heard_receipt(row).key for row in await tx.execute(kept.on_conflict_do_nothing().returning(receipts))}


async def release_parked(tx: Transaction, keys: Collection[MessageKey]) -> list[HeardReceipt]:
    """Mark the parked reports about `keys` as told and return them, oldest first."""
    given = keys_as_rows(sorted(keys))
    released = (
        update(receipts)
        .where(receipts.c.instance == given.c.instance, receipts.c.key_id == given.c.key_id)
        .where(receipts.c.recorded_at.is_(None))
        .values(recorded_at=func.clock_timestamp())
    )
    rows = await tx.execute(released.returning(*receipts.c))
    return sorted((heard_receipt(row) for row in rows), key=lambda receipt: (receipt.occurred_at, receipt.key))


async def count_parked(tx: Transaction) -> int:
    """Reports whose message is not known yet."""
    parked = select(func.count()).select_from(receipts).where(receipts.c.recorded_at.is_(None))
    return int((await tx.execute(parked)).scalar_one())


async def count_homeless(tx: Transaction) -> int:
    """Those of them whose event named no instance."""
    homeless = receipts.c.recorded_at.is_(None) & (receipts.c.instance == NO_INSTANCE)
    return int((await tx.execute(select(func.count()).select_from(receipts).where(homeless))).scalar_one())
