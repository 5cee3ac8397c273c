"""What the ledger looks like from above: how many are open, which are asked for again and again, what was given up."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, or_, select

from chassis.database import Transaction
from contracts.repair_questions import RepeatedMessage
from contracts.status import Status
from reconciler.domain.overdue import REPEATS_FROM
from reconciler.store import moment
from reconciler.tables import ledger

COUNTED_MAX = 100_000


async def open_by_evidence(tx: Transaction) -> dict[str, int]:
    """Open messages by the last that was heard of them; counting stops at a bound."""
    rows = select(ledger.c.evidence).where(ledger.c.closed_at.is_(None)).limit(COUNTED_MAX).subquery()
    query = select(rows.c.evidence, func.count().label("messages")).group_by(rows.c.evidence)
    return {row.evidence: row.messages for row in await tx.execute(query)}


async def count_overdue(tx: Transaction, *, now: datetime | None) -> int:
    """Messages that are silent for too long at this moment; counting stops at a bound."""
    suspicious = (
        select(ledger.c.message_id)
        .where(ledger.c.closed_at.is_(None), ledger.c.accepted.is_not(None), ledger.c.look_at <= moment(now))
        .limit(COUNTED_MAX)
    )
    return int((await tx.execute(select(func.count()).select_from(suspicious.subquery()))).scalar_one())


async def count_repeated(tx: Transaction) -> int:
    """Open messages that were asked for so often that somebody should look; counting stops at a bound."""
    repeated = select(ledger.c.message_id).where(_is_repeated()).limit(COUNTED_MAX)
    return int((await tx.execute(select(func.count()).select_from(repeated.subquery()))).scalar_one())


async def list_repeated(tx: Transaction, *, limit: int) -> list[RepeatedMessage]:
    """Those asked for most often first."""
    query = (
        select(ledger)
        .where(_is_repeated())
        .order_by(ledger.c.requeues.desc(), ledger.c.verifies.desc(), ledger.c.message_id)
        .limit(limit)
    )
    return [
        RepeatedMessage(
            message_id=row.message_id,
            tenant_id=row.ref["tenant_id"],
            instance=row.ref["instance"],
            evidence=row.evidence,
            requeues=row.requeues,
            verifies=row.verifies,
            asked_at=row.requeued_at,
            status=Status(row.status) if row.status else None,
        )
        for row in await tx.execute(query)
    ]


async def lost_by_evidence(tx: Transaction, *, within: timedelta, now: datetime | None) -> dict[str, int]:
    """Verdicts of late, by the last that had been heard of the message."""
    query = (
        select(ledger.c.evidence, func.count().label("messages"))
        .where(ledger.c.lost_at > moment(now) - within)
        .group_by(ledger.c.evidence)
    )
    return {row.evidence: row.messages for row in await tx.execute(query)}


def _is_repeated() -> ColumnElement[bool]:
    asked = or_(ledger.c.requeues >= REPEATS_FROM, ledger.c.verifies >= REPEATS_FROM)
    return and_(ledger.c.closed_at.is_(None), asked)
