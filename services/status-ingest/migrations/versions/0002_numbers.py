"""What is known of numbers: connection, silence, who is behind a LID; and keys are found by their id alone."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "status_ingest"


def upgrade() -> None:
    """The primary key of correlations turns round, so that it also finds a key whose instance nobody named."""
    op.drop_constraint("pk_correlations", "correlations", schema=SCHEMA)
    op.create_primary_key("pk_correlations", "correlations", ["key_id", "instance"], schema=SCHEMA)
    op.create_index(
        "ix_receipts_homeless",
        "receipts",
        ["key_id"],
        schema=SCHEMA,
        postgresql_where=sa.text("recorded_at IS NULL AND instance = ''"),
    )
    create_connections()
    create_traffic()
    create_lids()


def downgrade() -> None:
    """Whoever comes before this knows nothing of numbers."""
    for table in ("lids", "watches", "traffic", "connections"):
        op.drop_table(table, schema=SCHEMA)
    op.drop_index("ix_receipts_homeless", table_name="receipts", schema=SCHEMA)
    op.drop_constraint("pk_correlations", "correlations", schema=SCHEMA)
    op.create_primary_key("pk_correlations", "correlations", ["instance", "key_id"], schema=SCHEMA)


def moment(name: str, *, nullable: bool = True) -> sa.Column[object]:
    """A timestamp with time zone."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def create_connections() -> None:
    """How each number was last seen, and what was told of it."""
    op.create_table(
        "connections",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        moment("since"),
        moment("seen_at"),
        sa.Column("told", sa.Text(), nullable=True),
        moment("told_at"),
        sa.PrimaryKeyConstraint("instance", name="pk_connections"),
        schema=SCHEMA,
    )
    op.create_index(
        "ix_connections_unsettled",
        "connections",
        ["since"],
        schema=SCHEMA,
        postgresql_where=sa.text("state IS DISTINCT FROM told"),
    )


def create_traffic() -> None:
    """What numbers handed over and whether they were heard since; and up to when somebody looked."""
    op.create_table(
        "traffic",
        sa.Column("instance", sa.Text(), nullable=False),
        moment("heard_at"),
        moment("dispatched_at", nullable=False),
        moment("unheard_since"),
        sa.Column("usual_wait_seconds", sa.Double(), server_default=sa.text("0"), nullable=False),
        moment("silent_since"),
        sa.PrimaryKeyConstraint("instance", name="pk_traffic"),
        schema=SCHEMA,
    )
    op.create_table(
        "watches",
        sa.Column("name", sa.Text(), nullable=False),
        moment("until"),
        sa.PrimaryKeyConstraint("name", name="pk_watches"),
        schema=SCHEMA,
    )


def create_lids() -> None:
    """Who is behind a LID; both sides are peppered hashes."""
    op.create_table(
        "lids",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("lid_hash", sa.Text(), nullable=False),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        moment("seen_at", nullable=False),
        sa.PrimaryKeyConstraint("instance", "lid_hash", name="pk_lids"),
        schema=SCHEMA,
    )
    op.create_index("ix_lids_seen_at", "lids", ["seen_at"], schema=SCHEMA)
