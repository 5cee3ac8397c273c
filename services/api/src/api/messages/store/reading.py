"""Reading messages and their steps back."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, or_, select, union_all

from api.messages.domain.details import KnownMessage, Step, StoredMessage
from api.messages.domain.scope import Scope
from api.messages.store.rows import known, stored, within
from api.messages.tables import MESSAGES, STEPS
from chassis.database import Transaction


async def find_message(
    tx: Transaction, scope: Scope, *, reference: str, message_id: UUID | None
) -> StoredMessage | None:
    """A message by id, correlation id or provider id."""
    row = (await tx.execute(one(scope, reference=reference, message_id=message_id))).mappings().first()
    return stored(row) if row else None


def one(scope: Scope, *, reference: str, message_id: UUID | None) -> Select[tuple[object, ...]]:
    """The statement of `find_message`: one look into each of three indexes. Should ids collide, ours comes first."""
    query = select(MESSAGES).where(_named(reference, message_id), *within(scope))
    return query.order_by(MESSAGES.c.id != message_id, MESSAGES.c.id).limit(1)


async def find_anywhere(tx: Transaction, *, reference: str, message_id: UUID | None) -> StoredMessage | None:
    """As `find_message`, of any tenant. Customers choose correlation ids, so two may have the same: the newest then."""
    query = select(MESSAGES).where(_named(reference, message_id))
    query = query.order_by(MESSAGES.c.id != message_id, MESSAGES.c.id.desc()).limit(1)
    row = (await tx.execute(query)).mappings().first()
    return stored(row) if row else None


def _named(reference: str, message_id: UUID | None) -> ColumnElement[bool]:
    columns = MESSAGES.c
    ways: list[ColumnElement[bool]] = [columns.correlation_id == reference, columns.external_id == reference]
    if message_id is not None:
        ways.append(columns.id == message_id)
    found = union_all(*(select(columns.id).where(way) for way in ways)).subquery()
    return columns.id.in_(select(found.c.id))


async def find_known(
    tx: Transaction, scope: Scope, *, references: Sequence[str], message_ids: Sequence[UUID]
) -> list[KnownMessage]:
    """The messages with one of these ids or correlation ids."""
    columns = MESSAGES.c
    same = or_(columns.id.in_(message_ids), columns.correlation_id.in_(references))
    query = select(
        columns.id,
        columns.tenant_id,
        columns.project_id,
        columns.number_id,
        columns.instance,
        columns.environment,
        columns.category,
        columns.correlation_id,
        columns.round,
        columns.status,
        _is_suspect().label("is_suspect"),
    ).where(*within(scope), same)
    return [known(row) for row in (await tx.execute(query)).mappings()]


def _is_suspect() -> ColumnElement[bool]:
    """Whether an attempt of the message's round was reported as uncertain."""
    return exists().where(
        STEPS.c.message_id == MESSAGES.c.id, STEPS.c.round == MESSAGES.c.round, STEPS.c.what == "uncertain"
    )


async def list_steps(tx: Transaction, message_id: UUID, *, limit: int) -> list[Step]:
    """The steps of one message in the order they happened."""
    query = select(STEPS).where(STEPS.c.message_id == message_id).order_by(STEPS.c.at, STEPS.c.recorded_at).limit(limit)
    rows = (await tx.execute(query)).all()
    return [Step(at=row.at, what=row.what, round=row.round, detail=row.detail) for row in rows]
