"""The first tables: raw events, correlations, receipts, quarantine and the outbox."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "status_ingest"
QUEUE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}


def upgrade() -> None:
    """Create everything."""
    create_raw_events()
    create_correlations()
    create_receipts()
    create_quarantine()
    create_outbox()


def moment(name: str, *, nullable: bool = True) -> sa.Column[object]:
    """A timestamp with time zone."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def stamp(name: str) -> sa.Column[object]:
    """A timestamp the database fills in."""
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False)


def partial_index(name: str, table: str, column: str, condition: str) -> None:
    """An index over the rows that still matter."""
    op.create_index(name, table, [column], schema=SCHEMA, postgresql_where=sa.text(condition))


def create_raw_events() -> None:
    """Posted events, sealed."""
    op.create_table(
        "raw_events",
        sa.Column("id", sa.Uuid(), nullable=False),
        stamp("received_at"),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=False),
        moment("interpreted_at"),
        sa.PrimaryKeyConstraint("id", name="pk_raw_events"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
    partial_index("ix_raw_events_waiting", "raw_events", "id", "interpreted_at IS NULL")
    partial_index("ix_raw_events_interpreted_at", "raw_events", "interpreted_at", "interpreted_at IS NOT NULL")


def create_correlations() -> None:
    """WhatsApp's keys and our messages."""
    op.create_table(
        "correlations",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("ref", postgresql.JSONB(), nullable=True),
        moment("echoed_at"),
        stamp("first_seen_at"),
        sa.PrimaryKeyConstraint("instance", "key_id", name="pk_correlations"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
    partial_index("ix_correlations_unmatched", "correlations", "first_seen_at", "ref IS NULL")
    partial_index("ix_correlations_matched", "correlations", "first_seen_at", "ref IS NOT NULL")


def create_receipts() -> None:
    """Each report once, parked or told."""
    op.create_table(
        "receipts",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        moment("occurred_at", nullable=False),
        moment("recorded_at"),
        sa.PrimaryKeyConstraint("instance", "key_id", "status", name="pk_receipts"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
    partial_index("ix_receipts_parked", "receipts", "occurred_at", "recorded_at IS NULL")
    partial_index("ix_receipts_recorded_at", "receipts", "recorded_at", "recorded_at IS NOT NULL")


def create_quarantine() -> None:
    """What nobody understood."""
    op.create_table(
        "quarantine",
        sa.Column("id", sa.Uuid(), nullable=False),
        moment("received_at", nullable=False),
        stamp("filed_at"),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_quarantine"),
        schema=SCHEMA,
    )
    op.create_index("ix_quarantine_filed_at", "quarantine", ["filed_at"], schema=SCHEMA)


def create_outbox() -> None:
    """What was said and is not confirmed yet."""
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("exchange", sa.Text(), nullable=False),
        sa.Column("routing_key", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("headers", postgresql.JSONB(), nullable=False),
        stamp("said_at"),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        moment("not_before"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
