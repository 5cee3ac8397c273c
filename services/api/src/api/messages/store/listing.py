"""Lists of messages: by cursor for the log, by page for the history of a number."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, any_, case, func, literal, select, text, tuple_

from api.messages.domain.cursors import Position
from api.messages.domain.details import StoredMessage
from api.messages.domain.instants import Period
from api.messages.domain.listing import Filters
from api.messages.domain.scope import Scope
from api.messages.store.rows import stored, within
from api.messages.tables import MESSAGES, OPEN, UNSENT
from chassis.database import Transaction
from contracts.status import Status

CONTENT_BYTES_MAX = 8 * 1024 * 1024
"""Of all contents of one page together; a single one has at most an eighth of it."""

_UNSENT = frozenset({Status.FAILED, Status.CANCELED})


async def list_newest(
    tx: Transaction, scope: Scope, filters: Filters, *, after: Position | None, limit: int
) -> tuple[list[StoredMessage], bool]:
    """The newest messages that fit, or those after a position, and whether there are more.

    Fewer than `limit` where their contents are large.
    """
    query = _bounded(newest(scope, filters, after=after, limit=limit + 1), by="accepted_at")
    rows = (await tx.execute(query)).mappings().all()
    page = [stored(row) for row in rows if row["is_affordable"]][:limit]
    return page, len(rows) > len(page)


def newest(scope: Scope, filters: Filters, *, after: Position | None, limit: int) -> Select[tuple[object, ...]]:
    """The statement of `list_newest`; every order it can ask for is that of an index."""
    columns = MESSAGES.c
    query = select(MESSAGES).where(*within(scope), *_fits(filters))
    if after is not None:
        query = query.where(tuple_(columns.accepted_at, columns.id) < tuple_(after.accepted_at, after.message_id))
    return query.order_by(columns.accepted_at.desc(), columns.id.desc()).limit(limit)


async def list_history(
    tx: Transaction, scope: Scope, period: Period, *, offset: int, limit: int
) -> tuple[list[StoredMessage], bool]:
    """What a number has handed over to WhatsApp, newest first, and whether every content could be fetched."""
    columns = MESSAGES.c
    query = select(MESSAGES).where(*within(scope), *_handed_over(period))
    query = query.order_by(columns.dispatched_at.desc(), columns.id.desc()).offset(offset).limit(limit)
    rows = (await tx.execute(_bounded(query, by="dispatched_at"))).mappings().all()
    return [stored(row) for row in rows], all(row["is_affordable"] for row in rows)


def _bounded(query: Select[tuple[object, ...]], *, by: str) -> Select[tuple[object, ...]]:
    """The same rows in the same order, but contents only as long as all of them together are of bearable size."""
    page = query.subquery()
    order = (page.c[by].desc(), page.c.id.desc())
    weight = func.sum(func.coalesce(func.octet_length(page.c.sealed), 0)).over(order_by=order)
    is_affordable = weight <= CONTENT_BYTES_MAX
    others = [column for column in page.c if column.name != "sealed"]
    sealed = case((is_affordable, page.c.sealed)).label("sealed")
    return select(*others, sealed, is_affordable.label("is_affordable")).order_by(*order)


async def count_history(tx: Transaction, scope: Scope, period: Period, *, limit: int) -> int:
    """How many messages the history holds; counting stops at `limit`."""
    found = select(MESSAGES.c.id).where(*within(scope), *_handed_over(period)).limit(limit).subquery()
    return int((await tx.execute(select(func.count()).select_from(found))).scalar_one())


def _handed_over(period: Period) -> Sequence[ColumnElement[bool]]:
    return [MESSAGES.c.dispatched_at.is_not(None), *_between(MESSAGES.c.dispatched_at, period)]


def _fits(filters: Filters) -> list[ColumnElement[bool]]:
    columns = MESSAGES.c
    wanted: list[tuple[ColumnElement[bool], object]] = [
        (columns.category == filters.category, filters.category),
        (columns.environment == filters.environment, filters.environment),
        (columns.recipient_hash == filters.recipient_hash, filters.recipient_hash),
        (columns.template_name == filters.template, filters.template),
        (columns.number_id == filters.number_id, filters.number_id),
        (literal(filters.label) == any_(columns.labels), filters.label),
    ]
    conditions = [condition for condition, value in wanted if value is not None]
    return [*conditions, *_between(columns.accepted_at, filters.accepted), *_statuses(filters.statuses)]


def _statuses(statuses: frozenset[Status]) -> list[ColumnElement[bool]]:
    if not statuses:
        return []
    conditions: list[ColumnElement[bool]] = [MESSAGES.c.status.in_(sorted(statuses))]
    if statuses == {Status.QUEUED}:
        conditions.append(text(OPEN).self_group())  # type: ignore[arg-type]
    elif statuses <= _UNSENT:
        conditions.append(text(UNSENT).self_group())  # type: ignore[arg-type]
    return conditions


def _between(column: ColumnElement[datetime], period: Period) -> list[ColumnElement[bool]]:
    conditions = []
    if period.start is not None:
        conditions.append(column >= period.start)
    if period.end is not None:
        conditions.append(column <= period.end)
    return conditions
