"""Operators, of whose keys only a hash is stored, and the log of what they changed."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import CheckConstraint, Column, DateTime, Index, LargeBinary, Table, Text, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB

from api.tables import METADATA

OPERATORS = Table(
    "operators",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("revoked_at", DateTime(timezone=True)),
    CheckConstraint("role IN ('viewer', 'operator', 'admin')", name="role"),
)

AUDIT_ENTRIES = Table(
    "audit_entries",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("operator_id", Uuid),
    Column("action", Text, nullable=False),
    Column("target_type", Text, nullable=False),
    Column("target_id", Uuid, nullable=False),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("request_id", Text, nullable=False),
)
"""`operator_id` is null for the key from the environment."""

Index("ix_audit_entries_target_id_id", AUDIT_ENTRIES.c.target_id, AUDIT_ENTRIES.c.id)
Index("ix_audit_entries_operator_id_id", AUDIT_ENTRIES.c.operator_id, AUDIT_ENTRIES.c.id)
Index("ix_audit_entries_action_id", AUDIT_ENTRIES.c.action, AUDIT_ENTRIES.c.id)


@dataclass(frozen=True, slots=True)
class Audited:
    """What the log may show of a target: the rows of `table` whose `key` is its id, in these columns and no others."""

    table: Table
    columns: tuple[Column[Any], ...]
    key: Column[Any]
