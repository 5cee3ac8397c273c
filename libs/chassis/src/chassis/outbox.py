"""The outbox table: what a service has said and the broker has not confirmed yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Column,
    DateTime,
    Identity,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TextClause,
    Uuid,
    bindparam,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from chassis.telemetry.tracing import current_traceparent
from contracts.ids import uuid7
from contracts.statement import Statement

QUEUE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}
"""Vacuum settings for tables that churn like queues: by count, early, at full speed."""


def outbox_table(metadata: MetaData) -> Table:
    """The outbox of one schema. Rows are deleted on confirm; `not_before` holds back what came back unroutable."""
    return Table(
        "outbox",
        metadata,
        Column("id", BigInteger, Identity(always=True), primary_key=True),
        Column("statement_id", Uuid, nullable=False),
        Column("exchange", Text, nullable=False),
        Column("routing_key", Text, nullable=False),
        Column("type", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("headers", JSONB, nullable=False),
        Column("said_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
        Column("attempts", SmallInteger, nullable=False, server_default="0"),
        Column("not_before", DateTime(timezone=True)),
        postgresql_with=QUEUE_STORAGE,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Closing:
    """An INSERT that nobody waits for before the end of its transaction, where it shares the last round trip.

    `sql` names its parameters as `:name`, each with its type in `types`, and none as the outbox's are named.
    """

    sql: str
    types: Mapping[str, TypeEngine[Any]]

    def statement(self) -> TextClause:
        """By itself."""
        return text(self.sql).bindparams(*self.parameters())

    def parameters(self) -> Sequence[BindParameter[Any]]:
        """As SQLAlchemy wants them."""
        return [bindparam(name, type_=type_) for name, type_ in self.types.items()]


def insert_outgoing(outbox: Table, *, closing: Closing | None = None) -> TextClause:
    """Stores `outgoing_columns` in their order: one statement, whatever the number of rows, also beside `closing`."""
    target = f"{outbox.schema}.{outbox.name}" if outbox.schema else outbox.name
    sql = f"""
        INSERT INTO {target} (statement_id, exchange, routing_key, type, body, headers)
        SELECT s.statement_id, s.exchange, s.routing_key, s.type, s.body, :headers
        FROM unnest(:statement_ids, :exchanges, :routing_keys, :types, :bodies) WITH ORDINALITY
            AS s(statement_id, exchange, routing_key, type, body, place)
        ORDER BY s.place
    """  # noqa: S608 (a table's own name)
    if closing is not None:
        sql = f"WITH said AS ({sql}) {closing.sql}"
    return text(sql).bindparams(
        *(closing.parameters() if closing is not None else ()),
        bindparam("headers", type_=JSONB),
        bindparam("statement_ids", type_=ARRAY(Uuid)),
        bindparam("exchanges", type_=ARRAY(Text)),
        bindparam("routing_keys", type_=ARRAY(Text)),
        bindparam("types", type_=ARRAY(Text)),
        bindparam("bodies", type_=ARRAY(LargeBinary)),
    )


def outgoing_columns(statements: Sequence[Statement]) -> dict[str, Any]:
    """What to store; the trace that said it is kept so that it continues on the other side."""
    traceparent = current_traceparent()
    return {
        "headers": {"traceparent": traceparent} if traceparent else {},
        "statement_ids": [uuid7() for _ in statements],
        "exchanges": [statement.EXCHANGE for statement in statements],
        "routing_keys": [statement.routing_key() for statement in statements],
        "types": [statement.TYPE for statement in statements],
        "bodies": [statement.body() for statement in statements],
    }
