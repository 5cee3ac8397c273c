"""The database's clock, for decisions that are made beside it."""

from datetime import datetime

from chassis.database import Transaction
from dispatcher.store.sql import sql

_INSTANT = sql("SELECT {now}")


async def instant(tx: Transaction, now: datetime | None) -> datetime:
    """Now, unless given."""
    value: datetime = (await tx.execute(_INSTANT, {"now": now})).scalar_one()
    return value
