"""Every SQL statement of the reconciler; each function is one."""

from datetime import datetime

from sqlalchemy import ColumnElement, DateTime, bindparam, func


def moment(now: datetime | None) -> ColumnElement[datetime]:
    """The database's clock, or the instant a test sets."""
    return func.coalesce(bindparam("now", now, DateTime(timezone=True)), func.clock_timestamp())
