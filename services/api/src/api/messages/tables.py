"""Messages with their public status, and the steps each has taken."""

from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    Computed,
    Date,
    DateTime,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from api.tables import METADATA
from contracts.status import RANK

_RANKS = " ".join(f"WHEN '{status.value}' THEN {rank}" for status, rank in RANK.items())

OPEN = "dispatched_at IS NULL AND failed_at IS NULL AND canceled_at IS NULL"
UNSENT = "(failed_at IS NOT NULL OR canceled_at IS NOT NULL)"
"""How indexes tell QUEUED from FAILED and CANCELED: by columns that receipts leave alone, so that they stay cheap."""

MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, nullable=False),
    Column("project_id", Uuid, nullable=False),
    Column("key_id", Uuid, nullable=False),
    Column("number_id", Uuid, nullable=False),
    Column("instance", Text, nullable=False),
    Column("environment", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("correlation_id", Text, nullable=False),
    Column("round", SmallInteger, nullable=False, server_default="1"),
    Column("status", Text, nullable=False, server_default="QUEUED"),
    Column("status_rank", SmallInteger, Computed(f"CASE status {_RANKS} END", persisted=True), nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("origin", Text, nullable=False),
    Column("source_number", Text),
    Column("template_name", Text),
    Column("kind", Text, nullable=False, server_default="text"),
    Column("labels", ARRAY(Text)),
    Column("usage_day", Date),
    Column("usage_month", Date),
    Column("usage_returned", Boolean, nullable=False, server_default="false"),
    Column("deliver_by", DateTime(timezone=True), nullable=False),
    Column("deliver_until", DateTime(timezone=True), nullable=False),
    Column("urgent", Boolean, nullable=False),
    Column("sealed", Text),
    Column("recipient_hash", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("accepted_at", DateTime(timezone=True), nullable=False),
    Column("dispatched_at", DateTime(timezone=True)),
    Column("sent_at", DateTime(timezone=True)),
    Column("delivered_at", DateTime(timezone=True)),
    Column("read_at", DateTime(timezone=True)),
    Column("failed_at", DateTime(timezone=True)),
    Column("canceled_at", DateTime(timezone=True)),
    Column("external_id", Text),
    Column("error_code", Text),
    Column("duplicate_possible", Boolean, nullable=False, server_default="false"),
    postgresql_with={"fillfactor": 80},
)

Index("ix_messages_correlation_id", MESSAGES.c.correlation_id)
Index("ix_messages_external_id", MESSAGES.c.external_id, postgresql_where=MESSAGES.c.external_id.is_not(None))

Index("ix_messages_newest", MESSAGES.c.project_id, MESSAGES.c.accepted_at.desc(), MESSAGES.c.id.desc())
Index("ix_messages_number", MESSAGES.c.number_id, MESSAGES.c.accepted_at.desc(), MESSAGES.c.id.desc())
Index(
    "ix_messages_recipient",
    MESSAGES.c.project_id,
    MESSAGES.c.recipient_hash,
    MESSAGES.c.accepted_at.desc(),
    MESSAGES.c.id.desc(),
)
Index(
    "ix_messages_open",
    MESSAGES.c.project_id,
    MESSAGES.c.accepted_at.desc(),
    MESSAGES.c.id.desc(),
    postgresql_where=text(OPEN),
)
Index(
    "ix_messages_unsent",
    MESSAGES.c.project_id,
    MESSAGES.c.accepted_at.desc(),
    MESSAGES.c.id.desc(),
    postgresql_where=text(UNSENT),
)
Index(
    "ix_messages_history",
    MESSAGES.c.number_id,
    MESSAGES.c.dispatched_at.desc(),
    MESSAGES.c.id.desc(),
    postgresql_where=MESSAGES.c.dispatched_at.is_not(None),
)

IDEMPOTENCY_KEYS = Table(
    "idempotency_keys",
    METADATA,
    Column("project_id", Uuid, primary_key=True),
    Column("environment", Text, primary_key=True),
    Column("number_id", Uuid, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("message_id", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("estimated_dispatch_at", DateTime(timezone=True)),
)
"""Remembered for 24 h. The scope is finer than the number, so that a replay never shows another project's message.

`estimated_dispatch_at` is here because only a repeat needs it: it is answered as the first request was.
"""

Index("ix_idempotency_keys_created_at", IDEMPOTENCY_KEYS.c.created_at)

STEPS = Table(
    "message_steps",
    METADATA,
    Column("message_id", Uuid, primary_key=True),
    Column("statement_id", Uuid, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("what", Text, nullable=False),
    Column("round", SmallInteger, nullable=False),
    Column("detail", JSONB, nullable=False),
    Column("recorded_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
)
"""One row per statement about a message; the primary key makes recording it twice impossible."""
