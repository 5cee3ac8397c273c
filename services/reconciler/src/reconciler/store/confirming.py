"""Rows of the ledger that were dispatched and not confirmed, and rows that are open for too long."""

from datetime import datetime, timedelta

from sqlalchemy import func, or_, update

from chassis.database import Transaction
from contracts.values import MessageRef
from reconciler.domain.ledger import CONCLUSIVE, Evidence
from reconciler.domain.overdue import Overaged, Unconfirmed
from reconciler.store import moment
from reconciler.store.picking import given_up, is_in, picked, spaced
from reconciler.tables import ledger

SPACING_DOUBLINGS_MAX = 6
"""Between two questions about one message the grace doubles, up to 64 times its length."""


async def claim_unconfirmed(
    tx: Transaction, *, grace: timedelta, limit: int, now: datetime | None
) -> list[Unconfirmed]:
    """Mark messages that ended and were not confirmed within `grace` as asked about; no two passes get the same one."""
    at = moment(now)
    found = picked(
        ledger.c.closed_at.is_(None),
        ledger.c.lost_at.is_(None),
        ledger.c.evidence_weight == CONCLUSIVE,
        ledger.c.evidence_at <= at - grace,
        or_(ledger.c.verify_after.is_(None), ledger.c.verify_after <= at),
        at=at,
        by=ledger.c.evidence_at,
        limit=limit,
    )
    spacing = spaced(grace, ledger.c.verifies, doublings_max=SPACING_DOUBLINGS_MAX)
    marked = (
        update(ledger)
        .where(is_in(found))
        .values(verifies=ledger.c.verifies + 1, verify_after=at + spacing)
        .returning(ledger.c.ref, ledger.c.key_id, ledger.c.verifies)
    )
    return [
        Unconfirmed(ref=MessageRef.model_validate(row.ref), key_id=row.key_id, verifies=row.verifies)
        for row in await tx.execute(marked)
    ]


async def claim_overaged(tx: Transaction, *, age_max: timedelta, limit: int, now: datetime | None) -> list[Overaged]:
    """Give up on messages that are open `age_max` after they left, or after the window in which they could.

    A message whose window is longer than that is owed all of it.
    """
    at = moment(now)
    since = func.coalesce(ledger.c.dispatched_at, ledger.c.due_at, ledger.c.first_seen_at)
    found = picked(
        ledger.c.closed_at.is_(None),
        ledger.c.lost_at.is_(None),
        ledger.c.first_seen_at <= at - age_max,
        since <= at - age_max,
        or_(ledger.c.deliver_until.is_(None), ledger.c.deliver_until <= at),
        at=at,
        by=ledger.c.first_seen_at,
        limit=limit,
    )
    return [
        Overaged(ref=MessageRef.model_validate(row.ref), evidence=Evidence(row.evidence), lost_at=row.lost_at)
        for row in await tx.execute(given_up(found))
    ]
