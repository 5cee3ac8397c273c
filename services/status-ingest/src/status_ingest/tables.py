"""The tables of the schema `status_ingest`: what was posted, whose key is whose, what was heard."""

from sqlalchemy import Column, DateTime, Index, Integer, Table, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import JSONB

from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table

metadata = schema_metadata("status_ingest")

outbox = outbox_table(metadata)

raw_events = Table(
    "raw_events",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("event", Text, nullable=False),
    Column("instance", Text),
    Column("sealed", Text, nullable=False),
    Column("interpreted_at", DateTime(timezone=True)),
    postgresql_with=QUEUE_STORAGE,
)
"""Posted events, credentials removed; `sealed` opens with the id as associated data. Short-lived once interpreted."""

Index("ix_raw_events_waiting", raw_events.c.id, postgresql_where=text("interpreted_at IS NULL"))
Index("ix_raw_events_interpreted_at", raw_events.c.interpreted_at, postgresql_where=text("interpreted_at IS NOT NULL"))

correlations = Table(
    "correlations",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("key_id", Text, primary_key=True),
    Column("ref", JSONB(none_as_null=True)),
    Column("echoed_at", DateTime(timezone=True)),
    Column("first_seen_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    postgresql_with=QUEUE_STORAGE,
)
"""WhatsApp's key to our message. Whoever learns anything about a key locks its row here first."""

Index("ix_correlations_unmatched", correlations.c.first_seen_at, postgresql_where=text("ref IS NULL"))
Index("ix_correlations_matched", correlations.c.first_seen_at, postgresql_where=text("ref IS NOT NULL"))

receipts = Table(
    "receipts",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("key_id", Text, primary_key=True),
    Column("status", Text, primary_key=True),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("recorded_at", DateTime(timezone=True)),
    postgresql_with=QUEUE_STORAGE,
)
"""Each report once. `recorded_at` is when we said it; empty while it is parked because the message is not known."""

Index("ix_receipts_parked", receipts.c.occurred_at, postgresql_where=text("recorded_at IS NULL"))
Index("ix_receipts_recorded_at", receipts.c.recorded_at, postgresql_where=text("recorded_at IS NOT NULL"))

quarantine = Table(
    "quarantine",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("received_at", DateTime(timezone=True), nullable=False),
    Column("filed_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("event", Text, nullable=False),
    Column("instance", Text),
    Column("reason", Text, nullable=False),
    Column("size_bytes", Integer),
    Column("sealed", Text),
)
"""What nobody understood, for people to look at; `sealed` is empty where the body was too large to be read."""

Index("ix_quarantine_filed_at", quarantine.c.filed_at)
