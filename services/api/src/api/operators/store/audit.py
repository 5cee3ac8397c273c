"""Statements on the log of changes, and what it is allowed to see of a target."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, insert, select

from api.operators.domain import AuditEntry, AuditFilter, first_id_of
from api.operators.tables import AUDIT_ENTRIES, OPERATORS, Audited
from chassis.database import Transaction

ROWS_MAX = 50

Shown = Sequence[Mapping[str, Any]] | None
"""What the log shows of a target; None if there is none."""


async def snapshot(tx: Transaction, audited: Audited, target_id: UUID, *, lock: bool) -> Shown:
    """The target's rows in the columns that may be shown; None if it has none. `lock` keeps others from changing it."""
    query = select(*audited.columns).where(audited.key == target_id).limit(ROWS_MAX)
    rows = await tx.execute(query.with_for_update() if lock else query)
    return [{name: _plain(value) for name, value in row._mapping.items()} for row in rows] or None


async def insert_entry(tx: Transaction, entry: AuditEntry) -> None:
    """Remember one change."""
    await tx.execute(
        insert(AUDIT_ENTRIES).values(
            id=entry.entry_id,
            operator_id=entry.operator_id,
            action=entry.action,
            target_type=entry.target_type,
            target_id=entry.target_id,
            before=entry.before,
            after=entry.after,
            request_id=entry.request_id,
        )
    )


async def list_entries(tx: Transaction, wanted: AuditFilter, *, limit: int) -> Sequence[AuditEntry]:
    """Newest first, each with its operator's name."""
    entries = AUDIT_ENTRIES.c
    query = (
        select(*entries, OPERATORS.c.name.label("operator_name"))
        .select_from(AUDIT_ENTRIES.outerjoin(OPERATORS, OPERATORS.c.id == entries.operator_id))
        .order_by(entries.id.desc())
        .limit(limit)
    )
    for column in (entries.operator_id, entries.action, entries.target_type, entries.target_id):
        value = getattr(wanted, column.name)
        query = query.where(column == value) if value is not None else query
    if wanted.since is not None:
        query = query.where(entries.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(entries.at < wanted.until)
    if wanted.until_id is not None:
        query = query.where(entries.id < wanted.until_id)
    return [_entry(row) for row in await tx.execute(query)]


async def forget_entries(tx: Transaction, *, kept_days: int, before: datetime, limit: int) -> int:
    """Delete up to `limit` of the oldest entries from before a moment.

    The database lets go only of entries that are older than `kept_days` days, and only who says so.
    """
    await tx.execute(select(func.set_config("pilot.audit_kept_days", str(kept_days), True)))
    entries = AUDIT_ENTRIES.c
    old = select(entries.id).where(entries.id < first_id_of(before), entries.at < before)
    statement = delete(AUDIT_ENTRIES).where(entries.id.in_(old.order_by(entries.id).limit(limit)))
    return (await tx.execute(statement)).rowcount


def _entry(row: Any) -> AuditEntry:
    fields = dict(row._mapping)
    return AuditEntry(entry_id=fields.pop("id"), **fields)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else value
