"""Reading messages and their steps back."""

from typing import Any
from uuid import UUID

from sqlalchemy import or_, select

from api.messages.domain.details import Step, StoredMessage
from api.messages.tables import MESSAGES, STEPS
from chassis.database import Transaction
from contracts.errors import ErrorCode
from contracts.status import Status


async def find_message(
    tx: Transaction, *, project_id: UUID, reference: str, message_id: UUID | None
) -> StoredMessage | None:
    """A project's message by id, correlation id or provider id."""
    columns = MESSAGES.c
    same = or_(columns.id == message_id, columns.correlation_id == reference, columns.external_id == reference)
    query = select(MESSAGES).where(columns.project_id == project_id, same).order_by(columns.id).limit(1)
    row = (await tx.execute(query)).mappings().first()
    return _stored(row) if row else None


def _stored(row: Any) -> StoredMessage:
    return StoredMessage(
        message_id=row["id"],
        correlation_id=row["correlation_id"],
        external_id=row["external_id"],
        status=Status(row["status"]),
        version=row["version"],
        environment=row["environment"],
        category=row["category"],
        origin=row["origin"],
        template_name=row["template_name"],
        deliver_by=row["deliver_by"],
        deliver_until=row["deliver_until"],
        accepted_at=row["accepted_at"],
        dispatched_at=row["dispatched_at"],
        sent_at=row["sent_at"],
        delivered_at=row["delivered_at"],
        read_at=row["read_at"],
        failed_at=row["failed_at"],
        error_code=ErrorCode(row["error_code"]) if row["error_code"] else None,
        duplicate_possible=row["duplicate_possible"],
        sealed=row["sealed"],
    )


async def list_steps(tx: Transaction, message_id: UUID, *, limit: int) -> list[Step]:
    """The steps of one message in the order they happened."""
    query = select(STEPS).where(STEPS.c.message_id == message_id).order_by(STEPS.c.at, STEPS.c.recorded_at).limit(limit)
    rows = (await tx.execute(query)).all()
    return [Step(at=row.at, what=row.what, round=row.round, detail=row.detail) for row in rows]
