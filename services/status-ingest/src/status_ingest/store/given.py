"""Python values as rows of a statement, and rows as values again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, DateTime, FromClause, Text, bindparam, column, func
from sqlalchemy.dialects.postgresql import ARRAY

from gateways.port import ReceiptStatus
from status_ingest.domain.findings import HeardReceipt, MessageKey, ReceiptKey


def moment(now: datetime | None) -> ColumnElement[datetime]:
    """`now` if a test gives one, else the database's clock."""
    return func.coalesce(bindparam("now", now, DateTime(timezone=True)), func.clock_timestamp())


def keys_as_rows(keys: Sequence[MessageKey], **more: tuple[Any, Sequence[Any]]) -> FromClause:
    """One row per key, and what belongs to it."""
    return as_rows(
        "given",
        instance=(Text(), [key.instance for key in keys]),
        key_id=(Text(), [key.key_id for key in keys]),
        **more,
    )


def as_rows(alias: str, **columns: tuple[Any, Sequence[Any]]) -> FromClause:
    """Parallel arrays as rows, in their order."""
    arrays = [bindparam(f"{alias}_{name}", list(values), ARRAY(kind)) for name, (kind, values) in columns.items()]
    named = [column(name, kind) for name, (kind, _) in columns.items()]
    return func.unnest(*arrays).table_valued(*named, name=alias).render_derived()


def heard_receipt(row: Any) -> HeardReceipt:
    """A row of `receipts`."""
    message = MessageKey(instance=row.instance, key_id=row.key_id)
    return HeardReceipt(key=ReceiptKey(message=message, status=ReceiptStatus(row.status)), occurred_at=row.occurred_at)
