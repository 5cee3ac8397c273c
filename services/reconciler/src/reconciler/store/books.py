"""The ledger's side of the books: how many messages of each tenant and hour, and which."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, func, literal_column, select
from sqlalchemy.dialects.postgresql import distinct_on

from chassis.database import Transaction
from contracts.repair_questions import Account, AccountEntry
from contracts.status import Status
from reconciler.domain.books import HOUR, first_id_of
from reconciler.domain.ledger import CLOSING
from reconciler.tables import ledger

_TENANT = ledger.c.ref["tenant_id"].astext.cast(Uuid)
_DIGEST = (
    "bit_xor(CAST(CAST('x' || substr(md5(CAST(message_id AS text) || ':' || CAST(is_final AS text)), 1, 16)"
    " AS bit(64)) AS bigint))"
)
_FINAL = [status.value for status in CLOSING if status is not Status.QUEUED]


async def count_hour(tx: Transaction, hour: datetime, *, limit: int) -> list[Account]:
    """One account for each tenant that had something accepted in that hour, of its latest round."""
    latest = _latest(hour).subquery()
    is_final = latest.c.is_final
    query = (
        select(
            latest.c.tenant_id,
            func.count().label("accepted"),
            func.count().filter(is_final).label("final"),
            literal_column(_DIGEST).label("digest"),
        )
        .group_by(latest.c.tenant_id)
        .order_by(latest.c.tenant_id)
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


async def list_account(
    tx: Transaction, *, tenant_id: UUID, hour: datetime, after: UUID | None, limit: int
) -> list[AccountEntry]:
    """The messages of one account by id, each as its latest round is known."""
    latest = _latest(hour, after=after).subquery()
    query = (
        select(latest.c.message_id, latest.c.is_final)
        .where(latest.c.tenant_id == tenant_id)
        .order_by(latest.c.message_id)
        .limit(limit)
    )
    return [AccountEntry(message_id=row.message_id, is_final=row.is_final) for row in await tx.execute(query)]


def _latest(hour: datetime, *, after: UUID | None = None) -> Select[Any]:
    begin, end = first_id_of(hour), first_id_of(hour + HOUR)
    query = (
        select(
            ledger.c.message_id,
            _TENANT.label("tenant_id"),
            func.coalesce(ledger.c.status.in_(_FINAL), literal_column("false")).label("is_final"),
        )
        .ext(distinct_on(ledger.c.message_id))
        .where(ledger.c.message_id >= begin, ledger.c.message_id < end)
        .order_by(ledger.c.message_id, ledger.c.round.desc())
    )
    return query if after is None else query.where(ledger.c.message_id > after)
