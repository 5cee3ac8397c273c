"""The file of dead letters: filing, listing, and what becomes of them."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, func, literal_column, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from chassis.database import Transaction
from contracts.repair_questions import DeadLetter as Told
from contracts.repair_questions import LetterState, ListDeadLetters, ReplayDeadLetters
from reconciler.domain.dead_letters import DeadLetter
from reconciler.store import moment
from reconciler.tables import dead_letters

_SHOWN = [column for column in dead_letters.c if column.name not in ("sealed", "headers", "routing_key")]
_SETTLED = (LetterState.REPLAYED.value, LetterState.DISCARDED.value)


async def file_dead_letters(
    tx: Transaction, letters: Sequence[tuple[DeadLetter, str, tuple[str, str]]]
) -> dict[UUID, bool]:
    """File letters with their sealed bodies and what was found wrong; of those that are news, whether they are new.

    A letter that died again is WAITING again. A death that was filed already is no news.
    """
    rows = [_row(letter, sealed, cause, error) for letter, sealed, (cause, error) in letters]
    new = upsert(dead_letters).excluded
    known = dead_letters.c
    died_again = or_(
        new.last_died_at > known.last_died_at,
        and_(known.state.in_(_SETTLED), new.last_died_at >= func.date_trunc("second", known.settled_at)),
    )
    filed = (
        upsert(dead_letters)
        .values(rows)
        .on_conflict_do_update(
            index_elements=["id"],
            set_={
                **{name: new[name] for name in ("reason", "headers", "last_died_at", "cause", "error")},
                "count": func.least(known.count + new["count"], 2**31 - 1),
                "state": LetterState.WAITING.value,
                "settled_at": null(),
                "note": null(),
            },
            where=died_again,
        )
        .returning(known.id, literal_column("(xmax = 0)").label("is_new"))
    )
    return {row.id: row.is_new for row in await tx.execute(filed)}


async def forget_dead_letters(tx: Transaction, age: timedelta, *, now: datetime | None, limit: int) -> int:
    """Delete letters filed `age` ago; how many."""
    old = select(dead_letters.c.id).where(dead_letters.c.filed_at < moment(now) - age).limit(limit)
    return (await tx.execute(delete(dead_letters).where(dead_letters.c.id.in_(old)))).rowcount


async def list_dead_letters(tx: Transaction, wanted: ListDeadLetters) -> list[Told]:
    """One page and the first of the next, latest filed first."""
    columns = dead_letters.c
    query = select(*_SHOWN).order_by(columns.number.desc()).limit(wanted.limit + 1)
    equal = (
        (columns.state, wanted.state.value if wanted.state else None),
        (columns.origin_queue, wanted.queue),
        (columns.reason, wanted.reason),
        (columns.type, wanted.type),
        (columns.message_id, wanted.message_id),
    )
    for column, value in equal:
        query = query.where(column == value) if value is not None else query
    if wanted.filed_from is not None:
        query = query.where(columns.filed_at >= wanted.filed_from)
    if wanted.filed_until is not None:
        query = query.where(columns.filed_at < wanted.filed_until)
    if wanted.before is not None:
        query = query.where(columns.number < wanted.before)
    return [told(row) for row in await tx.execute(query)]


async def find_dead_letter(tx: Transaction, letter_id: UUID) -> Any | None:
    """One row, body and headers included."""
    return (await tx.execute(select(dead_letters).where(dead_letters.c.id == letter_id))).one_or_none()


async def lock_dead_letters(tx: Transaction, letter_ids: Collection[UUID]) -> Sequence[Any]:
    """These letters, in the order of their filing, each for us alone."""
    query = select(dead_letters).where(dead_letters.c.id.in_(letter_ids)).order_by(dead_letters.c.number)
    return (await tx.execute(query.with_for_update())).all()


async def lock_waiting(tx: Transaction, kind: ReplayDeadLetters) -> Sequence[Any]:
    """The first waiting letters of a kind, oldest first, each for us alone; what others hold is skipped."""
    columns = dead_letters.c
    query = select(dead_letters).where(columns.state == LetterState.WAITING.value)
    for column, value in ((columns.origin_queue, kind.queue), (columns.reason, kind.reason), (columns.type, kind.type)):
        query = query.where(column == value) if value is not None else query
    if kind.after is not None:
        query = query.where(columns.number > kind.after)
    query = query.order_by(columns.number).limit(kind.limit).with_for_update(skip_locked=True)
    return (await tx.execute(query)).all()


async def settle_dead_letters(
    tx: Transaction, letter_ids: Collection[UUID], state: LetterState, *, note: str | None, now: datetime | None
) -> None:
    """Remember what became of letters."""
    columns = dead_letters.c
    replays = columns.replays + 1 if state is LetterState.REPLAYED else columns.replays
    await tx.execute(
        update(dead_letters)
        .where(columns.id.in_(letter_ids))
        .values(state=state.value, settled_at=moment(now), note=note, replays=replays)
    )


async def count_waiting(tx: Transaction, *, limit: int) -> int:
    """Letters nobody decided about yet; counting stops at `limit`."""
    waiting = select(dead_letters.c.id).where(dead_letters.c.state == LetterState.WAITING.value).limit(limit)
    return int((await tx.execute(select(func.count()).select_from(waiting.subquery()))).scalar_one())


def told(row: Any) -> Told:
    """A row as it is told, without its content."""
    return Told(
        letter_id=row.id,
        number=row.number,
        state=LetterState(row.state),
        queue=row.origin_queue,
        reason=row.reason,
        cause=row.cause,
        error=row.error,
        count=row.count,
        type=row.type,
        message_id=row.message_id,
        statement_id=row.statement_id,
        size_bytes=row.size_bytes,
        first_died_at=row.first_died_at,
        last_died_at=row.last_died_at,
        filed_at=row.filed_at,
        replays=row.replays,
        settled_at=row.settled_at,
        note=row.note,
    )


def _row(letter: DeadLetter, sealed: str, cause: str, error: str) -> dict[str, Any]:
    return {
        "id": letter.id,
        "statement_id": letter.statement_id,
        "message_id": letter.message_id,
        "origin_queue": letter.origin_queue,
        "reason": letter.reason,
        "count": letter.count,
        "type": letter.type,
        "routing_key": letter.routing_key,
        "headers": dict(letter.headers),
        "size_bytes": letter.size_bytes,
        "sealed": sealed,
        "first_died_at": letter.first_died_at,
        "last_died_at": letter.last_died_at,
        "cause": cause,
        "error": error,
    }
