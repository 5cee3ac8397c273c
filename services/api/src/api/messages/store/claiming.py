"""Idempotency keys: claimed in the transaction that stores the message, remembered for 24 hours."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, DateTime, Interval, Text, Uuid, bindparam, text

from api.messages.domain.idempotency import REMEMBERED_FOR, Claim, Remembered, Scope
from api.messages.domain.receipt import Receipt
from chassis.database import Transaction
from contracts.values import Environment

_SCOPE = {"projects": ARRAY(Uuid), "environments": ARRAY(Text), "numbers": ARRAY(Uuid), "keys": ARRAY(Text)}

CLAIM = text("""
INSERT INTO api.idempotency_keys AS k
    (project_id, environment, number_id, key, fingerprint, message_id, created_at, estimated_dispatch_at)
SELECT * FROM unnest(:projects, :environments, :numbers, :keys, :fingerprints, :ids, :instants, :estimates)
    AS w(project_id, environment, number_id, key, fingerprint, message_id, created_at, estimated_dispatch_at)
ORDER BY 1, 2, 3, 4
ON CONFLICT (project_id, environment, number_id, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, message_id = excluded.message_id, created_at = excluded.created_at,
        estimated_dispatch_at = excluded.estimated_dispatch_at
    WHERE k.created_at <= excluded.created_at - :remembered_for
RETURNING message_id
""").bindparams(
    *(bindparam(name, type_=_SCOPE[name]) for name in _SCOPE),
    bindparam("fingerprints", type_=ARRAY(Text)),
    bindparam("ids", type_=ARRAY(Uuid)),
    bindparam("instants", type_=ARRAY(DateTime(timezone=True))),
    bindparam("estimates", type_=ARRAY(DateTime(timezone=True))),
    bindparam("remembered_for", type_=Interval),
)


async def claim_keys(tx: Transaction, claims: Sequence[tuple[Claim, Receipt]]) -> set[UUID]:
    """The ids of those messages whose key was free. Waits for another transaction that claims the same key."""
    receipts = [receipt for _, receipt in claims]
    parameters = {
        **_columns(claim.scope for claim, _ in claims),
        "fingerprints": [claim.fingerprint for claim, _ in claims],
        "ids": [receipt.message_id for receipt in receipts],
        "instants": [receipt.accepted_at for receipt in receipts],
        "estimates": [receipt.estimated_dispatch_at for receipt in receipts],
        "remembered_for": REMEMBERED_FOR,
    }
    return set((await tx.execute(CLAIM, parameters)).scalars())


FIND = text("""
SELECT k.project_id, k.environment, k.number_id, k.key, k.fingerprint, k.estimated_dispatch_at,
    m.id AS message_id, m.correlation_id, m.accepted_at, m.origin, m.source_number
FROM api.idempotency_keys k
JOIN unnest(:projects, :environments, :numbers, :keys) AS w(project_id, environment, number_id, key)
    USING (project_id, environment, number_id, key)
JOIN api.messages m ON m.id = k.message_id
WHERE k.created_at > :now - :remembered_for
""").bindparams(
    *(bindparam(name, type_=_SCOPE[name]) for name in _SCOPE),
    bindparam("now", type_=DateTime(timezone=True)),
    bindparam("remembered_for", type_=Interval),
)


async def find_remembered(tx: Transaction, scopes: Iterable[Scope], *, now: datetime) -> dict[Scope, Remembered]:
    """What keys were used for, where they were."""
    parameters = {**_columns(scopes), "now": now, "remembered_for": REMEMBERED_FOR}
    rows = (await tx.execute(FIND, parameters)).all()
    return {_scope(row): Remembered(fingerprint=row.fingerprint, receipt=_receipt(row)) for row in rows}


RELEASE = text("""
DELETE FROM api.idempotency_keys k USING unnest(:projects, :environments, :numbers, :keys)
    AS w(project_id, environment, number_id, key)
WHERE k.project_id = w.project_id AND k.environment = w.environment AND k.number_id = w.number_id AND k.key = w.key
""").bindparams(*(bindparam(name, type_=_SCOPE[name]) for name in _SCOPE))


async def release_keys(tx: Transaction, scopes: Sequence[Scope]) -> None:
    """Let go of keys whose messages were refused after all."""
    if scopes:
        await tx.execute(RELEASE, _columns(scopes))


FORGET = text("""
DELETE FROM api.idempotency_keys WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM api.idempotency_keys WHERE created_at < :now - :remembered_for
    LIMIT :limit FOR UPDATE SKIP LOCKED))
""").bindparams(bindparam("now", type_=DateTime(timezone=True)), bindparam("remembered_for", type_=Interval))


async def forget_keys(tx: Transaction, *, now: datetime, limit: int) -> int:
    """Drop keys that are remembered no longer; how many."""
    return (await tx.execute(FORGET, {"now": now, "remembered_for": REMEMBERED_FOR, "limit": limit})).rowcount


def _columns(scopes: Iterable[Scope]) -> dict[str, list[Any]]:
    known = list(scopes)
    return {
        "projects": [scope.project_id for scope in known],
        "environments": [scope.environment.value for scope in known],
        "numbers": [scope.number_id for scope in known],
        "keys": [scope.key for scope in known],
    }


def _scope(row: Any) -> Scope:
    return Scope(
        project_id=row.project_id, environment=Environment(row.environment), number_id=row.number_id, key=row.key
    )


def _receipt(row: Any) -> Receipt:
    return Receipt(
        message_id=row.message_id,
        correlation_id=row.correlation_id,
        accepted_at=row.accepted_at,
        origin=row.origin,
        source_number=row.source_number,
        estimated_dispatch_at=row.estimated_dispatch_at,
        replayed=True,
    )
