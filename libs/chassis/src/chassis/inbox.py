"""The inbox table: which statements a consumer has already acted on, marked in the same transaction as the effect."""

from collections.abc import Collection
from datetime import timedelta
from functools import cache
from uuid import UUID

from sqlalchemy import Column, DateTime, Executable, Index, MetaData, Table, Text, Uuid, bindparam, delete, func, select
from sqlalchemy.dialects.postgresql import ARRAY, insert

from chassis.database import Transaction

RETENTION = timedelta(days=14)
"""Longer than any backlog or dead-letter replay."""


def inbox_table(metadata: MetaData) -> Table:
    """The inbox of one schema."""
    table = Table(
        "inbox",
        metadata,
        Column("consumer", Text, primary_key=True),
        Column("statement_id", Uuid, primary_key=True),
        Column("seen_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    )
    Index("ix_inbox_seen_at", table.c.seen_at)
    return table


async def first_seen(tx: Transaction, inbox: Table, consumer: str, statement_ids: Collection[UUID]) -> set[UUID]:
    """Those of `statement_ids` that this consumer never marked before; they are marked now."""
    ordered = sorted(set(statement_ids))
    if not ordered:
        return set()
    result = await tx.execute(_mark(inbox), {"consumer": consumer, "ids": ordered})
    return set(result.scalars())


@cache
def _mark(inbox: Table) -> Executable:
    ids = func.unnest(bindparam("ids", type_=ARRAY(Uuid))).column_valued("statement_id")
    rows = select(bindparam("consumer", type_=Text), ids)
    marked = insert(inbox).from_select(["consumer", "statement_id"], rows).on_conflict_do_nothing()
    return marked.returning(inbox.c.statement_id)


async def forget_old(tx: Transaction, inbox: Table, *, older_than: timedelta = RETENTION, limit: int = 5_000) -> int:
    """Delete up to `limit` marks past their retention; the number deleted."""
    old = (
        select(inbox.c.consumer, inbox.c.statement_id).where(inbox.c.seen_at < func.now() - older_than).limit(limit)
    ).subquery()
    condition = (inbox.c.consumer == old.c.consumer) & (inbox.c.statement_id == old.c.statement_id)
    return (await tx.execute(delete(inbox).where(condition))).rowcount
