"""Statements about customers' endpoints."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, any_, bindparam, insert, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from chassis.database import Transaction
from contracts.questions import Endpoint
from notifier.domain.endpoints import Listener
from notifier.tables import endpoints

_PUBLIC = [endpoints.c[name] for name in Endpoint.model_fields]
_LISTED_MAX = 1_000


async def serialize_registrations(tx: Transaction, number_id: UUID) -> None:
    """Until this transaction ends, nobody else registers an endpoint of this number."""
    await tx.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"endpoints:{number_id}"})


async def add_endpoint(tx: Transaction, endpoint: Endpoint, *, sealed_secret: str) -> None:
    """Store a new endpoint."""
    await tx.execute(insert(endpoints), {**endpoint.model_dump(), "sealed_secret": sealed_secret})


async def endpoints_of(tx: Transaction, *, tenant_id: UUID, number_id: UUID | None = None) -> Sequence[Endpoint]:
    """A tenant's endpoints, or those of one of its numbers, oldest first."""
    query = select(*_PUBLIC).where(endpoints.c.tenant_id == tenant_id).order_by(endpoints.c.endpoint_id)
    if number_id is not None:
        query = query.where(endpoints.c.number_id == number_id)
    return [_endpoint(row) for row in await tx.execute(query.limit(_LISTED_MAX))]


async def listeners_of(tx: Transaction, number_ids: Collection[UUID]) -> Sequence[Listener]:
    """The active endpoints of these numbers, oldest first."""
    wanted = bindparam("number_ids", sorted(number_ids), ARRAY(Uuid))
    query = (
        select(endpoints.c.endpoint_id, endpoints.c.tenant_id, endpoints.c.number_id, endpoints.c.events)
        .where(endpoints.c.number_id == any_(wanted), endpoints.c.active)
        .order_by(endpoints.c.endpoint_id)
    )
    return [
        Listener(
            endpoint_id=row.endpoint_id, tenant_id=row.tenant_id, number_id=row.number_id, events=tuple(row.events)
        )
        for row in await tx.execute(query)
    ]


def _endpoint(row: Row[Any]) -> Endpoint:
    return Endpoint.model_validate(dict(row._mapping))
