"""Statements about customers' endpoints."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, any_, bindparam, delete, exists, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from chassis.database import Transaction
from contracts.questions import Endpoint
from notifier.domain.endpoints import Listener
from notifier.domain.problems import why_off
from notifier.tables import deliveries, delivery_attempts, endpoints

_TOLD = {"disabled_hint"}
"""Said of an endpoint, but not stored."""
_PUBLIC = [endpoints.c[name] for name in Endpoint.model_fields if name not in _TOLD]
_LISTED_MAX = 1_000


async def serialize_registrations(tx: Transaction, number_id: UUID) -> None:
    """Until this transaction ends, nobody else registers an endpoint of this number."""
    await tx.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"endpoints:{number_id}"})


async def add_endpoint(tx: Transaction, endpoint: Endpoint, *, sealed_secret: str) -> None:
    """Store a new endpoint."""
    await tx.execute(insert(endpoints), {**endpoint.model_dump(exclude=_TOLD), "sealed_secret": sealed_secret})


async def endpoints_of(tx: Transaction, *, tenant_id: UUID, number_id: UUID | None = None) -> Sequence[Endpoint]:
    """A tenant's endpoints, or those of one of its numbers, oldest first."""
    query = (
        select(*_PUBLIC)
        .where(endpoints.c.tenant_id == tenant_id, endpoints.c.deleted_at.is_(None))
        .order_by(endpoints.c.endpoint_id)
    )
    if number_id is not None:
        query = query.where(endpoints.c.number_id == number_id)
    return [_endpoint(row) for row in await tx.execute(query.limit(_LISTED_MAX))]


async def find_endpoint(
    tx: Transaction, endpoint_id: UUID, *, tenant_id: UUID, number_id: UUID | None, lock: bool = False
) -> Endpoint | None:
    """A tenant's endpoint, on one of its numbers if that is given. `lock` keeps others from changing it."""
    query = select(*_PUBLIC).where(
        endpoints.c.endpoint_id == endpoint_id, endpoints.c.tenant_id == tenant_id, endpoints.c.deleted_at.is_(None)
    )
    if number_id is not None:
        query = query.where(endpoints.c.number_id == number_id)
    row = (await tx.execute(query.with_for_update(key_share=True) if lock else query)).first()
    return _endpoint(row) if row else None


async def locate_endpoint(tx: Transaction, endpoint_id: UUID) -> Endpoint | None:
    """Any tenant's endpoint."""
    query = select(*_PUBLIC).where(endpoints.c.endpoint_id == endpoint_id, endpoints.c.deleted_at.is_(None))
    row = (await tx.execute(query)).first()
    return _endpoint(row) if row else None


async def change_endpoint(tx: Transaction, endpoint: Endpoint, *, revive: bool) -> Endpoint:
    """Store name, URL, selection and whether it is on; `revive` forgets its failures, for they are another life's."""
    values: dict[str, Any] = {
        "name": endpoint.name,
        "url": endpoint.url,
        "events": list(endpoint.events),
        "active": endpoint.active,
        "disabled_reason": endpoint.disabled_reason,
        "disabled_at": endpoint.disabled_at,
        "updated_at": func.clock_timestamp(),
    }
    if revive:
        values |= {"failures": 0, "failing_since": None}
    statement = update(endpoints).where(endpoints.c.endpoint_id == endpoint.endpoint_id).values(**values)
    return _endpoint((await tx.execute(statement.returning(*_PUBLIC))).one())


async def replace_secret(
    tx: Transaction, endpoint_id: UUID, *, sealed_secret: str, previous_until: datetime
) -> Endpoint:
    """A new secret; the one until now signs along until `previous_until`, and one before that no longer."""
    statement = (
        update(endpoints)
        .where(endpoints.c.endpoint_id == endpoint_id)
        .values(
            sealed_secret=sealed_secret,
            previous_sealed_secret=endpoints.c.sealed_secret,
            previous_secret_until=previous_until,
            updated_at=func.clock_timestamp(),
        )
        .returning(*_PUBLIC)
    )
    return _endpoint((await tx.execute(statement)).one())


async def delete_endpoint(tx: Transaction, endpoint_id: UUID) -> None:
    """Nothing is sent to it and nobody sees it any more; its rows go in small bites."""
    await tx.execute(
        update(endpoints)
        .where(endpoints.c.endpoint_id == endpoint_id)
        .values(
            active=False,
            deleted_at=func.clock_timestamp(),
            name="",
            url="",
            sealed_secret="",
            previous_sealed_secret=None,
        )
    )


async def deleted_endpoints(tx: Transaction, *, before: datetime, limit: int) -> Sequence[UUID]:
    """Endpoints that were deleted before a moment and still have rows."""
    query = select(endpoints.c.endpoint_id).where(endpoints.c.deleted_at < before)
    return list((await tx.execute(query.order_by(endpoints.c.endpoint_id).limit(limit))).scalars())


async def forget_endpoint(tx: Transaction, endpoint_id: UUID) -> None:
    """The last row of a deleted endpoint, once nothing else is left of it."""
    owed = exists().where(deliveries.c.endpoint_id == endpoint_id)
    tried = exists().where(delivery_attempts.c.endpoint_id == endpoint_id)
    await tx.execute(
        delete(endpoints).where(
            endpoints.c.endpoint_id == endpoint_id, endpoints.c.deleted_at.is_not(None), ~owed, ~tried
        )
    )


async def listeners_of(tx: Transaction, number_ids: Collection[UUID]) -> Sequence[Listener]:
    """The endpoints of these numbers, oldest first; one that is off is owed too."""
    wanted = bindparam("number_ids", sorted(number_ids), ARRAY(Uuid))
    return await _listeners(tx, endpoints.c.number_id == any_(wanted))


async def listeners_of_tenant(tx: Transaction, tenant_id: UUID) -> Sequence[Listener]:
    """The endpoints of all numbers of a tenant, oldest first."""
    return await _listeners(tx, endpoints.c.tenant_id == tenant_id)


async def _listeners(tx: Transaction, condition: ColumnElement[bool]) -> Sequence[Listener]:
    query = (
        select(endpoints.c.endpoint_id, endpoints.c.tenant_id, endpoints.c.number_id, endpoints.c.events)
        .where(condition, endpoints.c.deleted_at.is_(None))
        .order_by(endpoints.c.endpoint_id)
    )
    return [
        Listener(
            endpoint_id=row.endpoint_id, tenant_id=row.tenant_id, number_id=row.number_id, events=tuple(row.events)
        )
        for row in await tx.execute(query)
    ]


def _endpoint(row: Row[Any]) -> Endpoint:
    return Endpoint.model_validate({**row._mapping, "disabled_hint": why_off(row.disabled_reason)})
