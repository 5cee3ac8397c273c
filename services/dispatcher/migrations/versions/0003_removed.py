"""Lanes of removed numbers: nothing is sent from them, and what waits in them fails."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and the way to the few lanes that have it."""
    op.add_column("lanes", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True), schema="dispatcher")
    op.create_index(
        "ix_lanes_removed",
        "lanes",
        ["removed_at"],
        unique=False,
        schema="dispatcher",
        postgresql_where=sa.text("removed_at IS NOT NULL"),
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_index("ix_lanes_removed", table_name="lanes", schema="dispatcher")
    op.drop_column("lanes", "removed_at", schema="dispatcher")
