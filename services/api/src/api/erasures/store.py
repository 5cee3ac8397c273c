"""Statements that forget a recipient in the api's own tables, and keep account of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, Interval, Text, Uuid, bindparam, delete, func, insert, select, text, update

from api.accounts.tables import TENANTS
from api.erasures.domain import Erasure, Progress, Waiting
from api.erasures.tables import ERASURES
from api.optins.tables import OPT_INS
from api.profiles.tables import PROFILES
from chassis.database import Transaction

_THEIRS = """
    recipient_hash = :recipient_hash AND accepted_at <= :until
    AND project_id IN (SELECT id FROM api.projects WHERE :tenant_id IS NULL OR tenant_id = :tenant_id)
"""

_PARAMETERS = (
    bindparam("tenant_id", type_=Uuid),
    bindparam("recipient_hash", type_=Text),
    bindparam("until", type_=DateTime(timezone=True)),
)

_FORGET = text(f"""
    WITH found AS (
        SELECT id, number_id, sealed IS NOT NULL OR labels IS NOT NULL AS has_content FROM api.messages
         WHERE {_THEIRS} AND (:cursor IS NULL OR id > :cursor)
         ORDER BY id LIMIT :limit FOR UPDATE),
    wiped AS (
        UPDATE api.messages AS message SET sealed = NULL, labels = NULL
          FROM found WHERE message.id = found.id AND found.has_content)
    SELECT id, number_id, has_content FROM found ORDER BY id
""").bindparams(*_PARAMETERS, bindparam("cursor", type_=Uuid))  # noqa: S608 - no input in it

_WAITING = text(f"""
    SELECT id, tenant_id FROM api.messages
     WHERE {_THEIRS} AND status = 'QUEUED' AND (:cursor IS NULL OR id > :cursor)
     ORDER BY id LIMIT :limit
""").bindparams(*_PARAMETERS, bindparam("cursor", type_=Uuid))  # noqa: S608 - no input in it

_INSTANCES = text(f"""
    SELECT instance FROM api.numbers WHERE tenant_id = :tenant_id
    UNION SELECT instance FROM api.messages WHERE {_THEIRS}
    ORDER BY instance LIMIT :limit
""").bindparams(*_PARAMETERS)  # noqa: S608 - no input in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Numbers without a country are of `default_country`."""

    default_country: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """A message that was gone through; `had_content` if there was something to take out."""

    message_id: UUID
    number_id: UUID
    had_content: bool


async def find_tenant(tx: Transaction, tenant_id: UUID) -> Tenant | None:
    """The tenant an erasure is for, as far as it matters."""
    row = (await tx.execute(select(TENANTS.c.default_country).where(TENANTS.c.id == tenant_id))).first()
    return Tenant(default_country=row.default_country) if row is not None else None


async def insert_erasure(
    tx: Transaction,
    *,
    erasure_id: UUID,
    tenant_id: UUID | None,
    recipient_hash: str,
    sealed_recipient: str,
    now: datetime,
) -> None:
    """Begin one; `now` is read off the same clock as the acceptance of messages."""
    await tx.execute(
        insert(ERASURES).values(
            id=erasure_id,
            tenant_id=tenant_id,
            recipient_hash=recipient_hash,
            sealed_recipient=sealed_recipient,
            requested_at=now,
        )
    )


async def forget_people(tx: Transaction, erasure_id: UUID, *, tenant_id: UUID | None, recipient_hash: str) -> Erasure:
    """Delete profiles; withdraw opt-ins, of which only the hash stays. The erasure as it is then."""
    profiles = delete(PROFILES).where(PROFILES.c.recipient_hash == recipient_hash)
    opt_ins = update(OPT_INS).where(OPT_INS.c.recipient_hash == recipient_hash)
    if tenant_id is not None:
        profiles = profiles.where(PROFILES.c.tenant_id == tenant_id)
        opt_ins = opt_ins.where(OPT_INS.c.tenant_id == tenant_id)
    withdrawn = func.coalesce(OPT_INS.c.revoked_at, func.clock_timestamp())
    counted = update(ERASURES).where(ERASURES.c.id == erasure_id)
    counted = counted.values(
        profiles_deleted=(await tx.execute(profiles)).rowcount,
        opt_ins_revoked=(await tx.execute(opt_ins.values(sealed_phone=None, revoked_at=withdrawn))).rowcount,
    )
    return _erasure((await tx.execute(counted.returning(ERASURES))).one())


async def find_erasure(tx: Transaction, erasure_id: UUID) -> Erasure | None:
    """One."""
    row = (await tx.execute(select(ERASURES).where(ERASURES.c.id == erasure_id))).first()
    return _erasure(row) if row is not None else None


async def due_erasures(tx: Transaction, *, limit: int, now: datetime | None) -> list[Erasure]:
    """Those that can go on now, without locking them."""
    is_due = ERASURES.c.look_at <= _moment(now)
    query = select(ERASURES).where(ERASURES.c.completed_at.is_(None), is_due).order_by(ERASURES.c.look_at)
    return [_erasure(row) for row in await tx.execute(query.limit(limit))]


async def lock_erasure(tx: Transaction, erasure_id: UUID, *, now: datetime | None) -> Erasure | None:
    """One that is due and that nobody else is working on."""
    query = select(ERASURES).where(ERASURES.c.id == erasure_id, ERASURES.c.completed_at.is_(None))
    query = query.where(ERASURES.c.look_at <= _moment(now)).with_for_update(skip_locked=True)
    row = (await tx.execute(query)).first()
    return _erasure(row) if row is not None else None


async def forget_messages(tx: Transaction, erasure: Erasure, *, limit: int) -> list[Forgotten]:
    """Take content out of the next messages of the recipient, in the order of their ids."""
    rows = await tx.execute(_FORGET, _theirs(erasure) | {"cursor": erasure.cursor, "limit": limit})
    return [Forgotten(message_id=row.id, number_id=row.number_id, had_content=row.has_content) for row in rows]


async def waiting_messages(tx: Transaction, erasure: Erasure, *, after: UUID | None, limit: int) -> Sequence[Waiting]:
    """Messages of the recipient that were not dispatched yet."""
    rows = await tx.execute(_WAITING, _theirs(erasure) | {"cursor": after, "limit": limit})
    return [Waiting(message_id=row.id, tenant_id=row.tenant_id) for row in rows]


async def instances_of(tx: Transaction, erasure: Erasure, *, limit: int) -> list[str]:
    """The tenant's own numbers and those that wrote to the recipient for it."""
    parameters = _theirs(erasure) | {"limit": limit}
    return list((await tx.execute(_INSTANCES, parameters)).scalars())


async def count_canceled(tx: Transaction, erasure_id: UUID, canceled: int) -> None:
    """Remember how many messages will not be sent."""
    more = ERASURES.c.messages_canceled + canceled
    await tx.execute(update(ERASURES).where(ERASURES.c.id == erasure_id).values(messages_canceled=more))


async def save_progress(tx: Transaction, erasure_id: UUID, progress: Progress, *, now: datetime | None) -> None:
    """Write down how far it has come; at the end the recipient is forgotten here, too."""
    at = _moment(now)
    values: dict[str, Any] = {
        "walk": progress.walk,
        "cursor": progress.cursor,
        "messages_forgotten": ERASURES.c.messages_forgotten + progress.forgotten,
        "messages_waiting": progress.waiting,
        "look_at": at + bindparam("wait", progress.wait, type_=Interval),
    }
    if progress.is_done:
        values |= {"completed_at": at, "sealed_recipient": None}
    await tx.execute(update(ERASURES).where(ERASURES.c.id == erasure_id).values(values))


def _theirs(erasure: Erasure) -> dict[str, Any]:
    return {
        "tenant_id": erasure.tenant_id,
        "recipient_hash": erasure.recipient_hash,
        "until": erasure.requested_at,
    }


def _moment(now: datetime | None) -> Any:
    return func.coalesce(bindparam("now", now, type_=DateTime(timezone=True)), func.clock_timestamp())


def _erasure(row: Any) -> Erasure:
    fields = dict(row._mapping)
    del fields["look_at"]
    return Erasure(erasure_id=fields.pop("id"), **fields)
