"""Statements on numbers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import case, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from api.numbers.domain import Number, PiiMode
from api.numbers.tables import NUMBERS
from chassis.database import Transaction
from contracts.values import ConnectionState, PacingPolicy


async def insert_number(tx: Transaction, number: Number) -> bool:
    """A new number; False if its instance name is taken or there already is a default number."""
    statement = insert(NUMBERS).values(
        id=number.number_id,
        tenant_id=number.tenant_id,
        instance=number.instance,
        display_name=number.display_name,
        phone=number.phone,
        platform_default=number.platform_default,
        gateway=number.gateway,
        sealed_access=number.sealed_access,
        pacing=number.pacing.model_dump(mode="json"),
        paused=number.paused,
        version=number.version,
        state=number.state.value,
        settings=dict(number.settings),
    )
    return (await tx.execute(statement.on_conflict_do_nothing().returning(NUMBERS.c.id))).first() is not None


async def find_number(tx: Transaction, number_id: UUID) -> Number | None:
    """One number."""
    row = (await tx.execute(select(NUMBERS).where(NUMBERS.c.id == number_id))).mappings().first()
    return number_of(row) if row else None


async def record_connection(tx: Transaction, *, instance: str, state: ConnectionState, observed_at: datetime) -> None:
    """Believe the newest observation."""
    newer = or_(NUMBERS.c.state_observed_at.is_(None), NUMBERS.c.state_observed_at < observed_at)
    statement = update(NUMBERS).where(NUMBERS.c.instance == instance, newer)
    opening = state is ConnectionState.OPEN
    connected_at = case((NUMBERS.c.state != state.value, observed_at), else_=NUMBERS.c.connected_at)
    await tx.execute(
        statement.values(
            state=state.value,
            state_observed_at=observed_at,
            connected_at=connected_at if opening else NUMBERS.c.connected_at,
        )
    )


def number_of(row: Any) -> Number:
    """A row of `numbers` as a value."""
    return Number(
        number_id=row["id"],
        tenant_id=row["tenant_id"],
        instance=row["instance"],
        display_name=row["display_name"],
        phone=row["phone"],
        platform_default=row["platform_default"],
        gateway=row["gateway"],
        sealed_access=row["sealed_access"],
        pacing=PacingPolicy.model_validate(row["pacing"]),
        paused=row["paused"],
        version=row["version"],
        state=ConnectionState(row["state"]),
        state_observed_at=row["state_observed_at"],
        connected_at=row["connected_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        deleted_at=row["deleted_at"],
        pii_mode=PiiMode(row["pii_mode"]),
        pii_retention_days=row["pii_retention_days"],
        settings=row["settings"],
    )
