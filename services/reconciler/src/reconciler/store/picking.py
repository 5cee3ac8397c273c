"""How a pass picks rows of the ledger: the oldest first, locked, and none that another pass is at."""

from datetime import timedelta
from typing import Any

from sqlalchemy import CTE, ColumnElement, Executable, Interval, and_, func, select, update

from reconciler.tables import ledger


def picked(*where: ColumnElement[bool], at: ColumnElement[Any], by: ColumnElement[Any], limit: int) -> CTE:
    """Keys of up to `limit` rows in the order of `by`, when they were last asked for, and the instant `at`."""
    return (
        select(ledger.c.message_id, ledger.c.round, ledger.c.requeued_at, at.label("at"))
        .where(*where)
        .order_by(by)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("found")
    )


def is_in(found: CTE) -> ColumnElement[bool]:
    """Joins a statement on the ledger with what was picked."""
    return and_(ledger.c.message_id == found.c.message_id, ledger.c.round == found.c.round)


def spaced(interval: timedelta, times: ColumnElement[int], *, doublings_max: int) -> ColumnElement[timedelta]:
    """An interval that doubles with each time, up to a bound."""
    doublings = func.power(2, func.least(times, doublings_max))
    return func.make_interval(0, 0, 0, 0, 0, 0, interval.total_seconds() * doublings, type_=Interval())


def given_up(found: CTE) -> Executable:
    """Marks what was picked as lost; returns its reference, the last evidence, and when."""
    return (
        update(ledger)
        .where(is_in(found))
        .values(lost_at=found.c.at)
        .returning(ledger.c.ref, ledger.c.evidence, ledger.c.lost_at)
    )
