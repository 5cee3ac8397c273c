"""The ledger: facts folded in whatever their order, and silence found."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Executable, and_, case, delete, false, func, null, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from contracts.facts import MessageAccepted
from contracts.status import Status
from contracts.values import MessageRef
from reconciler.domain.ledger import CONCLUSIVE, WEIGHT, Entry, Evidence, Forsaken, Suspicious
from reconciler.store import moment
from reconciler.store.picking import given_up, is_in, picked, spaced
from reconciler.tables import ledger

SPACING_DOUBLINGS_MAX = 5
"""Between two requests about one message the interval doubles, up to 32 times its length."""


def _fold_statement() -> Executable:
    known, new = ledger.c, upsert(ledger).excluded
    is_closed = or_(known.closed_at.is_not(None), new.closed_at.is_not(None))
    is_believed = or_(
        new.evidence_weight > known.evidence_weight,
        and_(new.evidence_weight == known.evidence_weight, new.evidence_at > known.evidence_at),
    )
    is_later = func.coalesce(new.status_version > func.coalesce(known.status_version, 0), false())
    look_at = case(
        (is_closed, null()),
        (is_believed, new.look_at),
        (known.evidence_weight == 0, func.coalesce(new.look_at, known.look_at)),
        else_=known.look_at,
    )
    folded = {
        "accepted": case((is_closed, null()), else_=func.coalesce(known.accepted, new.accepted)),
        **{name: func.coalesce(known[name], new[name]) for name in ("accepted_at", "due_at", "deliver_until")},
        **{
            name: case((is_believed, new[name]), else_=known[name])
            for name in ("evidence", "evidence_weight", "evidence_at")
        },
        "look_at": look_at,
        **{name: case((is_later, new[name]), else_=known[name]) for name in ("status", "status_version")},
        "closed_at": func.coalesce(known.closed_at, new.closed_at),
        "key_id": func.coalesce(new.key_id, known.key_id),
        "dispatched_at": func.coalesce(known.dispatched_at, new.dispatched_at),
    }
    return upsert(ledger).on_conflict_do_update(index_elements=["message_id", "round"], set_=folded)


_FOLD = _fold_statement()


async def fold_entries(tx: Transaction, entries: Sequence[Entry]) -> None:
    """Add what each entry knows to its row; the caller sorts, so that all lock in one order."""
    await tx.execute(_FOLD, [_row(entry) for entry in entries])


async def claim_suspicious(
    tx: Transaction, *, interval: timedelta, limit: int, now: datetime | None
) -> list[Suspicious]:
    """Mark messages that have been silent too long as asked for, and return them; no two passes get the same one."""
    at = moment(now)
    is_due = or_(ledger.c.requeue_after.is_(None), ledger.c.requeue_after <= at)
    found = picked(*_is_suspicious(at), is_due, at=at, by=ledger.c.look_at, limit=limit)
    spacing = spaced(interval, ledger.c.requeues, doublings_max=SPACING_DOUBLINGS_MAX)
    marked = (
        update(ledger)
        .where(is_in(found))
        .values(
            requeues=ledger.c.requeues + 1,
            requeued_at=found.c.at,
            requeue_after=found.c.at + spacing,
        )
        .returning(ledger, found.c.requeued_at.label("asked_before"))
    )
    return [_suspicious(row) for row in await tx.execute(marked)]


async def claim_forsaken(
    tx: Transaction,
    *,
    recovery_sla: timedelta,
    patience: timedelta,
    hearing_since: datetime,
    limit: int,
    now: datetime | None,
) -> list[Forsaken]:
    """Give up on messages far past their deadline whose dispatcher was asked, could answer, and did not."""
    at = moment(now)
    unanswered = or_(ledger.c.evidence_at.is_(None), ledger.c.evidence_at < ledger.c.requeued_at)
    found = picked(
        *_is_suspicious(at),
        ledger.c.evidence != Evidence.UNCERTAIN.value,
        ledger.c.deliver_until < at - recovery_sla,
        ledger.c.requeued_at >= hearing_since,
        ledger.c.requeued_at <= at - patience,
        unanswered,
        at=at,
        by=ledger.c.look_at,
        limit=limit,
    )
    return [
        Forsaken(ref=MessageRef.model_validate(row.ref), evidence=Evidence(row.evidence), lost_at=row.lost_at)
        for row in await tx.execute(given_up(found))
    ]


async def count_open(tx: Transaction) -> int:
    """Messages whose end is not known."""
    is_open = and_(ledger.c.closed_at.is_(None), ledger.c.accepted.is_not(None))
    return int((await tx.execute(select(func.count()).select_from(ledger).where(is_open))).scalar_one())


async def find_status(tx: Transaction, message_id: UUID) -> Status | None:
    """The public status of a message's latest round, as far as it was heard."""
    query = select(ledger.c.status).where(ledger.c.message_id == message_id).order_by(ledger.c.round.desc()).limit(1)
    status = (await tx.execute(query)).scalar_one_or_none()
    return Status(status) if status else None


async def forget_closed(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete rows closed `age` ago; until then they keep late facts from opening the message again. How many.

    So are those that got their verdict as long ago, and whose end was never told.
    """
    primary_key = tuple_(ledger.c.message_id, ledger.c.round)
    ended = ledger.c.closed_at < moment(now) - age
    given_up = and_(ledger.c.closed_at.is_(None), ledger.c.lost_at < moment(now) - age)
    old = select(ledger.c.message_id, ledger.c.round).where(or_(ended, given_up)).limit(limit)
    return (await tx.execute(delete(ledger).where(primary_key.in_(old)))).rowcount


def _is_suspicious(at: Any) -> tuple[Any, ...]:
    return (
        ledger.c.closed_at.is_(None),
        ledger.c.accepted.is_not(None),
        ledger.c.look_at.is_not(None),
        ledger.c.look_at <= at,
        ledger.c.evidence_weight < CONCLUSIVE,
        ledger.c.lost_at.is_(None),
    )


def _row(entry: Entry) -> dict[str, Any]:
    accepted = entry.accepted if entry.closed_at is None else None
    return {
        "message_id": entry.ref.message_id,
        "round": entry.ref.round,
        "ref": entry.ref.model_dump(mode="json"),
        "accepted": accepted.model_dump(mode="json") if accepted else None,
        "accepted_at": entry.accepted.accepted_at if entry.accepted else None,
        "due_at": entry.accepted.deliver_by if entry.accepted else None,
        "deliver_until": entry.accepted.deliver_until if entry.accepted else None,
        "evidence": entry.evidence.value,
        "evidence_weight": WEIGHT[entry.evidence],
        "evidence_at": entry.evidence_at,
        "look_at": entry.look_at,
        "status": entry.status.value if entry.status else None,
        "status_version": entry.status_version,
        "closed_at": entry.closed_at,
        "key_id": entry.key_id,
        "dispatched_at": entry.dispatched_at,
    }


def _suspicious(row: Any) -> Suspicious:
    asked_before, answered_at = row.asked_before, row.evidence_at
    return Suspicious(
        accepted=MessageAccepted.model_validate(row.accepted),
        evidence=Evidence(row.evidence),
        requeues=row.requeues,
        is_unanswered=asked_before is not None and (answered_at is None or answered_at < asked_before),
    )
