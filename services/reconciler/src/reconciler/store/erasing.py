"""Which entries of the ledger hold content of one recipient that nobody needs any more."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select, tuple_

from chassis.database import Transaction
from reconciler.domain.ledger import CONCLUSIVE
from reconciler.tables import ledger

EntryKey = tuple[UUID, int]


async def needless_contents(
    tx: Transaction, *, recipient_hash: str, tenant_id: UUID | None, after: EntryKey | None, limit: int
) -> Sequence[EntryKey]:
    """Open entries with proof of dispatch, locked: they are never put back to work. Closed ones hold nothing."""
    query = (
        select(ledger.c.message_id, ledger.c.round)
        .where(ledger.c.closed_at.is_(None), ledger.c.evidence_weight >= CONCLUSIVE)
        .where(ledger.c.accepted["recipient_hash"].astext == recipient_hash)
        .order_by(ledger.c.message_id, ledger.c.round)
        .limit(limit)
        .with_for_update()
    )
    if tenant_id is not None:
        query = query.where(ledger.c.ref["tenant_id"].astext == str(tenant_id))
    if after is not None:
        query = query.where(tuple_(ledger.c.message_id, ledger.c.round) > tuple_(*after))
    return [(row.message_id, row.round) for row in await tx.execute(query)]
