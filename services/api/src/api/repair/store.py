"""The api's side of the books, read from the messages themselves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, literal_column, select

from api.messages.tables import MESSAGES
from api.repair.domain import HOUR, Booked, first_id_of
from chassis.database import Transaction
from contracts.repair_questions import Account
from contracts.status import Status

_FINAL = [status.value for status in Status if status not in (Status.QUEUED, Status.DISPATCHED)]
_DIGEST = (
    "bit_xor(CAST(CAST('x' || substr(md5(CAST(message_id AS text) || ':' || CAST(is_final AS text)), 1, 16)"
    " AS bit(64)) AS bigint))"
)
_STEPS = ("dispatched_at", "sent_at", "delivered_at", "read_at", "failed_at", "canceled_at")


async def count_hour(tx: Transaction, hour: datetime, *, limit: int) -> list[Account]:
    """One account for each tenant that had something accepted in that hour."""
    booked = _of_hour(hour).subquery()
    query = (
        select(
            booked.c.tenant_id,
            func.count().label("accepted"),
            func.count().filter(booked.c.is_final).label("final"),
            literal_column(_DIGEST).label("digest"),
        )
        .group_by(booked.c.tenant_id)
        .order_by(booked.c.tenant_id)
        .limit(limit)
    )
    return [
        Account(
            tenant_id=row.tenant_id,
            hour=hour,
            accepted=row.accepted,
            final=row.final,
            open=row.accepted - row.final,
            digest=row.digest,
        )
        for row in await tx.execute(query)
    ]


async def list_account(tx: Transaction, *, tenant_id: UUID, hour: datetime, limit: int) -> Sequence[Booked]:
    """The messages of one account, by id."""
    query = _of_hour(hour).where(MESSAGES.c.tenant_id == tenant_id).order_by(MESSAGES.c.id).limit(limit)
    return [
        Booked(message_id=row.message_id, is_final=row.is_final, changed_at=row.changed_at)
        for row in await tx.execute(query)
    ]


def _of_hour(hour: datetime) -> Select[Any]:
    columns = MESSAGES.c
    changed_at = func.greatest(columns.accepted_at, *(columns[name] for name in _STEPS))
    return select(
        columns.id.label("message_id"),
        columns.tenant_id,
        columns.status.in_(_FINAL).label("is_final"),
        changed_at.label("changed_at"),
    ).where(columns.id >= first_id_of(hour), columns.id < first_id_of(hour + HOUR))
