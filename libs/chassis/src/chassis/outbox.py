"""The outbox table: what a service has said and the broker has not confirmed yet."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Identity,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

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


def outgoing_rows(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Rows for the outbox; the trace that said them is kept so that it continues on the other side."""
    traceparent = current_traceparent()
    headers = {"traceparent": traceparent} if traceparent else {}
    return [
        {
            "statement_id": uuid7(),
            "exchange": statement.EXCHANGE,
            "routing_key": statement.routing_key(),
            "type": statement.TYPE,
            "body": statement.body(),
            "headers": headers,
        }
        for statement in statements
    ]
