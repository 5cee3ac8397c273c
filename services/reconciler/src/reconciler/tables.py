"""The tables of the schema `reconciler`: the ledger of messages that are owed an end, and the dead letters."""

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Identity,
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

from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table
from chassis.retention import Kept
from chassis.sealed_columns import SealedColumn

metadata = schema_metadata("reconciler")

outbox = outbox_table(metadata)

ledger = Table(
    "ledger",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("ref", JSONB, nullable=False),
    Column("accepted", JSONB(none_as_null=True)),
    Column("accepted_at", DateTime(timezone=True)),
    Column("due_at", DateTime(timezone=True)),
    Column("deliver_until", DateTime(timezone=True)),
    Column("evidence", Text, nullable=False),
    Column("evidence_weight", SmallInteger, nullable=False),
    Column("evidence_at", DateTime(timezone=True)),
    Column("look_at", DateTime(timezone=True)),
    Column("status", Text),
    Column("status_version", Integer),
    Column("requeues", Integer, nullable=False, server_default="0"),
    Column("requeued_at", DateTime(timezone=True)),
    Column("requeue_after", DateTime(timezone=True)),
    Column("lost_at", DateTime(timezone=True)),
    Column("first_seen_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("closed_at", DateTime(timezone=True)),
    Column("key_id", Text),
    Column("dispatched_at", DateTime(timezone=True)),
    Column("verifies", Integer, nullable=False, server_default="0"),
    Column("verify_after", DateTime(timezone=True)),
    postgresql_with=QUEUE_STORAGE,
)
"""One row per message and round, opened by whichever fact comes first.

`accepted` is the accepted fact with its sealed content; it is gone once the row is closed.
`look_at` is when silence becomes suspicious; empty where there is proof of dispatch. Where there is, `verify_after` is
when the gateway is asked about `key_id` again.
"""

Index(
    "ix_ledger_suspicious",
    ledger.c.look_at,
    postgresql_where=text("closed_at IS NULL AND accepted IS NOT NULL AND look_at IS NOT NULL"),
)
Index("ix_ledger_open", ledger.c.first_seen_at, postgresql_where=text("closed_at IS NULL"))
Index("ix_ledger_closed_at", ledger.c.closed_at, postgresql_where=text("closed_at IS NOT NULL"))
Index(
    "ix_ledger_unconfirmed",
    ledger.c.evidence_at,
    postgresql_where=text("closed_at IS NULL AND evidence_weight = 2 AND lost_at IS NULL"),
)
Index("ix_ledger_repeated", ledger.c.requeues, postgresql_where=text("closed_at IS NULL AND requeues > 1"))
Index("ix_ledger_lost_at", ledger.c.lost_at, postgresql_where=text("lost_at IS NOT NULL"))

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("statement_id", Uuid),
    Column("origin_queue", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("count", Integer, nullable=False),
    Column("type", Text),
    Column("routing_key", Text, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("first_died_at", DateTime(timezone=True), nullable=False),
    Column("filed_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("number", BigInteger, Identity(always=True), nullable=False),
    Column("state", Text, nullable=False, server_default="WAITING"),
    Column("message_id", Uuid),
    Column("cause", Text, nullable=False, server_default="UNKNOWN"),
    Column("error", Text, nullable=False, server_default=""),
    Column("last_died_at", DateTime(timezone=True), nullable=False),
    Column("settled_at", DateTime(timezone=True)),
    Column("replays", Integer, nullable=False, server_default="0"),
    Column("note", Text),
)
"""Whatever a queue gave up on, one row for a body and the queue it died in, however often it dies there.

`sealed` is the body as it was, associated data: the id. `number` grows in the order of filing.
"""

Index("ix_dead_letters_number", dead_letters.c.number, unique=True)
Index("ix_dead_letters_waiting", dead_letters.c.number, postgresql_where=text("state = 'WAITING'"))
Index(
    "ix_dead_letters_message_id",
    dead_letters.c.message_id,
    postgresql_where=text("message_id IS NOT NULL"),
)
Index("ix_dead_letters_filed_at", dead_letters.c.filed_at)
Index("ix_dead_letters_origin_queue", dead_letters.c.origin_queue, dead_letters.c.filed_at)

SEALED_ENTRIES = SealedColumn(column=ledger.c.accepted, member="sealed", aad=ledger.c.message_id)
SEALED_LETTERS = SealedColumn(column=dead_letters.c.sealed, aad=dead_letters.c.id, is_nested=True)
SEALED = (SEALED_ENTRIES, SEALED_LETTERS, SealedColumn(column=outbox.c.body))

KEPT = (
    Kept(kind="closed_message", since=ledger.c.closed_at, where=ledger.c.closed_at.is_not(None)),
    Kept(kind="open_message", since=ledger.c.first_seen_at, where=ledger.c.closed_at.is_(None)),
    Kept(kind="dead_letter", since=dead_letters.c.filed_at),
)
