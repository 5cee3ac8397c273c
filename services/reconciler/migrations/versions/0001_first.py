"""The first tables: ledger, dead letters and the outbox."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "reconciler"
QUEUE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}


def upgrade() -> None:
    """Create everything."""
    create_ledger()
    create_dead_letters()
    create_outbox()


def moment(name: str, *, nullable: bool = True) -> sa.Column[object]:
    """A timestamp with time zone."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def stamp(name: str) -> sa.Column[object]:
    """A timestamp the database fills in."""
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False)


def create_ledger() -> None:
    """One row per message and round."""
    op.create_table(
        "ledger",
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("ref", postgresql.JSONB(), nullable=False),
        sa.Column("accepted", postgresql.JSONB(), nullable=True),
        moment("accepted_at"),
        moment("due_at"),
        moment("deliver_until"),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("evidence_weight", sa.SmallInteger(), nullable=False),
        moment("evidence_at"),
        moment("look_at"),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("status_version", sa.Integer(), nullable=True),
        sa.Column("requeues", sa.Integer(), server_default="0", nullable=False),
        moment("requeued_at"),
        moment("requeue_after"),
        moment("lost_at"),
        stamp("first_seen_at"),
        moment("closed_at"),
        sa.PrimaryKeyConstraint("message_id", "round", name="pk_ledger"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
    op.create_index(
        "ix_ledger_suspicious",
        "ledger",
        ["look_at"],
        schema=SCHEMA,
        postgresql_where=sa.text("closed_at IS NULL AND accepted IS NOT NULL AND look_at IS NOT NULL"),
    )
    op.create_index(
        "ix_ledger_open", "ledger", ["first_seen_at"], schema=SCHEMA, postgresql_where=sa.text("closed_at IS NULL")
    )
    op.create_index(
        "ix_ledger_closed_at", "ledger", ["closed_at"], schema=SCHEMA, postgresql_where=sa.text("closed_at IS NOT NULL")
    )


def create_dead_letters() -> None:
    """What queues gave up on."""
    op.create_table(
        "dead_letters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=True),
        sa.Column("origin_queue", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("routing_key", sa.Text(), nullable=False),
        sa.Column("headers", postgresql.JSONB(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        moment("first_died_at", nullable=False),
        stamp("filed_at"),
        sa.PrimaryKeyConstraint("id", name="pk_dead_letters"),
        schema=SCHEMA,
    )
    op.create_index("ix_dead_letters_filed_at", "dead_letters", ["filed_at"], schema=SCHEMA)
    op.create_index("ix_dead_letters_origin_queue", "dead_letters", ["origin_queue", "filed_at"], schema=SCHEMA)


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
