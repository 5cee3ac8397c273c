"""What the ledger verifies and balances, and what becomes of dead letters."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "reconciler"


def upgrade() -> None:
    """Rows that are there are kept; letters are numbered in the order in which they lie."""
    extend_ledger()
    extend_dead_letters()


def extend_ledger() -> None:
    """The proof of dispatch, and when the gateway is asked about it."""
    op.add_column("ledger", sa.Column("key_id", sa.Text(), nullable=True), schema=SCHEMA)
    op.add_column("ledger", sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True), schema=SCHEMA)
    op.add_column("ledger", sa.Column("verifies", sa.Integer(), server_default="0", nullable=False), schema=SCHEMA)
    op.add_column("ledger", sa.Column("verify_after", sa.DateTime(timezone=True), nullable=True), schema=SCHEMA)
    op.create_index(
        "ix_ledger_unconfirmed",
        "ledger",
        ["evidence_at"],
        schema=SCHEMA,
        postgresql_where=sa.text("closed_at IS NULL AND evidence_weight = 2 AND lost_at IS NULL"),
    )
    op.create_index(
        "ix_ledger_repeated",
        "ledger",
        ["requeues"],
        schema=SCHEMA,
        postgresql_where=sa.text("closed_at IS NULL AND requeues > 1"),
    )
    op.create_index(
        "ix_ledger_lost_at", "ledger", ["lost_at"], schema=SCHEMA, postgresql_where=sa.text("lost_at IS NOT NULL")
    )


def extend_dead_letters() -> None:
    """Number, state, finding and history of each letter."""
    columns = (
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("state", sa.Text(), server_default="WAITING", nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=True),
        sa.Column("cause", sa.Text(), server_default="UNKNOWN", nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("last_died_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("replays", sa.Integer(), server_default="0", nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
    )
    for column in columns:
        op.add_column("dead_letters", column, schema=SCHEMA)
    op.execute("UPDATE reconciler.dead_letters SET last_died_at = first_died_at")
    op.alter_column("dead_letters", "last_died_at", nullable=False, schema=SCHEMA)
    op.create_index("ix_dead_letters_number", "dead_letters", ["number"], unique=True, schema=SCHEMA)
    op.create_index(
        "ix_dead_letters_waiting",
        "dead_letters",
        ["number"],
        schema=SCHEMA,
        postgresql_where=sa.text("state = 'WAITING'"),
    )
    op.create_index(
        "ix_dead_letters_message_id",
        "dead_letters",
        ["message_id"],
        schema=SCHEMA,
        postgresql_where=sa.text("message_id IS NOT NULL"),
    )


def downgrade() -> None:
    """What became of letters is forgotten with the columns."""
    for index in ("ix_dead_letters_message_id", "ix_dead_letters_waiting", "ix_dead_letters_number"):
        op.drop_index(index, table_name="dead_letters", schema=SCHEMA)
    for name in ("note", "replays", "settled_at", "last_died_at", "error", "cause", "message_id", "state", "number"):
        op.drop_column("dead_letters", name, schema=SCHEMA)
    for index in ("ix_ledger_lost_at", "ix_ledger_repeated", "ix_ledger_unconfirmed"):
        op.drop_index(index, table_name="ledger", schema=SCHEMA)
    for name in ("verify_after", "verifies", "dispatched_at", "key_id"):
        op.drop_column("ledger", name, schema=SCHEMA)
