"""The tables of the schema `status_ingest`: what was posted, whose key is whose, what was heard."""

from sqlalchemy import Column, DateTime, Double, Index, Integer, PrimaryKeyConstraint, Table, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import JSONB

from chassis.erasing import Erasable
from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table
from chassis.retention import Kept
from chassis.sealed_columns import SealedColumn

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
    Column("instance", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("ref", JSONB(none_as_null=True)),
    Column("echoed_at", DateTime(timezone=True)),
    Column("first_seen_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    PrimaryKeyConstraint("key_id", "instance"),
    postgresql_with=QUEUE_STORAGE,
)
"""WhatsApp's key to our message. Whoever learns anything about a key locks its row here first.

The key id leads the primary key, so that it also finds who has a key whose instance nobody named.
"""

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
"""Each report once. `recorded_at` is when we said it; empty while it is parked because the message is not known.

An empty `instance`: the event named none, see `usecases/adopt_receipts.py`.
"""

Index("ix_receipts_parked", receipts.c.occurred_at, postgresql_where=text("recorded_at IS NULL"))
Index("ix_receipts_homeless", receipts.c.key_id, postgresql_where=text("recorded_at IS NULL AND instance = ''"))
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

connections = Table(
    "connections",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("state", Text),
    Column("reason", Text),
    Column("since", DateTime(timezone=True)),
    Column("seen_at", DateTime(timezone=True)),
    Column("told", Text),
    Column("told_at", DateTime(timezone=True)),
)
"""How each number was last seen connected, and what was told of it last."""

Index("ix_connections_unsettled", connections.c.since, postgresql_where=text("state IS DISTINCT FROM told"))

traffic = Table(
    "traffic",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("heard_at", DateTime(timezone=True)),
    Column("dispatched_at", DateTime(timezone=True), nullable=False),
    Column("unheard_since", DateTime(timezone=True)),
    Column("usual_wait_seconds", Double, nullable=False, server_default=text("0")),
    Column("silent_since", DateTime(timezone=True)),
)
"""Numbers that handed something over: when, and whether their gateway was heard since."""

watches = Table(
    "watches",
    metadata,
    Column("name", Text, primary_key=True),
    Column("until", DateTime(timezone=True)),
)
"""Up to when somebody looked; whoever looks holds the row."""

lids = Table(
    "lids",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("lid_hash", Text, primary_key=True),
    Column("recipient_hash", Text, nullable=False),
    Column("seen_at", DateTime(timezone=True), nullable=False),
)
"""Who is behind a LID; both sides are peppered hashes."""

Index("ix_lids_seen_at", lids.c.seen_at)
_SEALED_EVENTS = SealedColumn(column=raw_events.c.sealed, aad=raw_events.c.id)
_SEALED_STRANGERS = SealedColumn(column=quarantine.c.sealed, aad=quarantine.c.id)

SEALED = (_SEALED_EVENTS, _SEALED_STRANGERS, SealedColumn(column=outbox.c.body))

ERASABLE = (
    Erasable(sealed=_SEALED_EVENTS, where=raw_events.c.interpreted_at.is_not(None)),
    Erasable(sealed=_SEALED_STRANGERS),
)

KEPT = (
    Kept(kind="raw_event", since=raw_events.c.interpreted_at, where=raw_events.c.interpreted_at.is_not(None)),
    Kept(kind="parked_receipt", since=receipts.c.occurred_at, where=receipts.c.recorded_at.is_(None)),
    Kept(kind="receipt", since=receipts.c.recorded_at, where=receipts.c.recorded_at.is_not(None)),
    Kept(kind="unmatched_key", since=correlations.c.first_seen_at, where=correlations.c.ref.is_(None)),
    Kept(kind="matched_key", since=correlations.c.first_seen_at, where=correlations.c.ref.is_not(None)),
    Kept(kind="quarantined", since=quarantine.c.filed_at),
)
