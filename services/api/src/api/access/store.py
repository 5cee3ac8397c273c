"""Statements on API keys."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Interval, Select, and_, bindparam, func, insert, or_, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import DateTime, Uuid

from api.access.domain import Caller, KeyParts, KeyScope, StoredKey
from api.access.tables import API_KEY_USES, API_KEYS
from api.accounts.tables import PROJECTS, TENANTS
from api.limits.store import allowance_columns, allowance_of
from api.limits.tables import PLANS
from api.numbers.domain import Number
from api.numbers.store import number_of
from api.numbers.tables import NUMBERS
from chassis.database import Transaction
from contracts.values import Environment


async def find_caller(tx: Transaction, public_id: str) -> Caller | None:
    """The holder of an unrevoked key with its number, or the platform's default number if the key is not bound."""
    sends_from = or_(
        API_KEYS.c.number_id == NUMBERS.c.id,
        and_(API_KEYS.c.scope == KeyScope.DEFAULT.value, NUMBERS.c.platform_default),
    )
    query = (
        select(
            *NUMBERS.c,
            API_KEYS.c.id.label("key_id"),
            API_KEYS.c.secret_hash,
            API_KEYS.c.environment,
            API_KEYS.c.scope,
            PROJECTS.c.id.label("project_id"),
            PROJECTS.c.tenant_id.label("caller_tenant_id"),
            PROJECTS.c.production_approved,
            *allowance_columns(),
        )
        .select_from(
            API_KEYS.join(PROJECTS, API_KEYS.c.project_id == PROJECTS.c.id)
            .join(TENANTS, PROJECTS.c.tenant_id == TENANTS.c.id)
            .outerjoin(PLANS, TENANTS.c.plan_id == PLANS.c.id)
            .outerjoin(NUMBERS, sends_from)
        )
        .where(API_KEYS.c.public_id == public_id, API_KEYS.c.revoked_at.is_(None))
        .where(NUMBERS.c.deleted_at.is_(None))
    )
    row = (await tx.execute(query)).mappings().first()
    return _caller(row) if row else None


def _caller(row: Any) -> Caller:
    return Caller(
        key_id=row["key_id"],
        secret_hash=row["secret_hash"],
        environment=Environment(row["environment"]),
        tenant_id=row["caller_tenant_id"],
        project_id=row["project_id"],
        production_approved=row["production_approved"],
        scope=KeyScope(row["scope"]),
        number=number_of(row) if row["id"] else None,
        allowance=allowance_of(row),
    )


async def insert_key(
    tx: Transaction,
    *,
    key_id: UUID,
    parts: KeyParts,
    name: str,
    project_id: UUID,
    number_id: UUID | None,
    scope: KeyScope,
) -> None:
    """Store a new key's hash."""
    await tx.execute(
        insert(API_KEYS).values(
            id=key_id,
            public_id=parts.public_id,
            secret_hash=parts.secret_hash,
            name=name,
            project_id=project_id,
            environment=parts.environment.value,
            number_id=number_id,
            scope=scope.value,
            last4=parts.last4,
        )
    )


_IN_USE = API_KEYS.c.revoked_at.is_(None)
_DEFAULT_FIRST = (API_KEYS.c.environment != Environment.LIVE.value, API_KEYS.c.created_at.desc(), API_KEYS.c.id)
"""A number's default key is its newest LIVE one, or else its newest."""


async def list_default_keys(tx: Transaction, tenant_id: UUID, *, limit: int) -> Sequence[tuple[Number, StoredKey]]:
    """Each number of a tenant that has a key, with its default key."""
    number_columns = [column.label(f"of_number_{column.name}") for column in NUMBERS.c]
    query = (
        select(API_KEYS, API_KEY_USES.c.last_used_at, *number_columns)
        .join(NUMBERS, API_KEYS.c.number_id == NUMBERS.c.id)
        .outerjoin(API_KEY_USES, API_KEY_USES.c.key_id == API_KEYS.c.id)
        .where(NUMBERS.c.tenant_id == tenant_id, NUMBERS.c.deleted_at.is_(None), _IN_USE)
        .distinct(NUMBERS.c.id)
        .order_by(NUMBERS.c.id, *_DEFAULT_FIRST)
        .limit(limit)
    )
    rows = (await tx.execute(query)).mappings().all()
    return [
        (number_of({column.name: row[f"of_number_{column.name}"] for column in NUMBERS.c}), _key(row)) for row in rows
    ]


async def lock_number(tx: Transaction, tenant_id: UUID, number_id: UUID) -> bool:
    """Whether the tenant has this number; one rotation of its key at a time."""
    query = select(NUMBERS.c.id).where(
        NUMBERS.c.id == number_id, NUMBERS.c.tenant_id == tenant_id, NUMBERS.c.deleted_at.is_(None)
    )
    return (await tx.execute(query.with_for_update())).first() is not None


async def find_default_key(tx: Transaction, number_id: UUID) -> StoredKey | None:
    """The default key of a number."""
    query = _keys().where(API_KEYS.c.number_id == number_id, _IN_USE).order_by(*_DEFAULT_FIRST).limit(1)
    row = (await tx.execute(query)).mappings().first()
    return _key(row) if row else None


async def find_key(tx: Transaction, key_id: UUID) -> StoredKey | None:
    """A key in use."""
    row = (await tx.execute(_keys().where(API_KEYS.c.id == key_id, _IN_USE))).mappings().first()
    return _key(row) if row else None


async def revoke_key(tx: Transaction, key_id: UUID) -> bool:
    """From now on the key opens nothing; False if somebody was faster."""
    statement = update(API_KEYS).where(API_KEYS.c.id == key_id, _IN_USE).values(revoked_at=func.now())
    return (await tx.execute(statement.returning(API_KEYS.c.id))).first() is not None


async def write_uses(tx: Transaction, uses: Mapping[UUID, datetime], *, every: timedelta) -> None:
    """When keys were last used; what is written already and less than `every` older stays as it is."""
    ordered = sorted(uses)
    await tx.execute(_WRITE_USES, {"ids": ordered, "moments": [uses[key_id] for key_id in ordered], "every": every})


_WRITE_USES = text("""
INSERT INTO api.api_key_uses AS known (key_id, last_used_at)
SELECT k.id, u.at FROM unnest(:ids, :moments) AS u (key_id, at) JOIN api.api_keys AS k ON k.id = u.key_id ORDER BY k.id
    ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
 WHERE known.last_used_at <= excluded.last_used_at - :every
""").bindparams(
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("moments", type_=ARRAY(DateTime(timezone=True))),
    bindparam("every", type_=Interval),
)


def _keys() -> Select[Any]:
    joined = API_KEYS.outerjoin(API_KEY_USES, API_KEY_USES.c.key_id == API_KEYS.c.id)
    return select(API_KEYS, API_KEY_USES.c.last_used_at).select_from(joined)


def _key(row: Any) -> StoredKey:
    return StoredKey(
        key_id=row["id"],
        public_id=row["public_id"],
        name=row["name"],
        environment=Environment(row["environment"]),
        project_id=row["project_id"],
        number_id=row["number_id"],
        scope=KeyScope(row["scope"]),
        last4=row["last4"],
        created_at=row["created_at"],
        last_used_at=row["last_used_at"],
    )
