"""Secrets that sign along while they are replaced, and endpoints that are deleted with all that was owed to them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("endpoints", sa.Column("previous_sealed_secret", sa.Text(), nullable=True), schema="notifier")
    op.add_column(
        "endpoints",
        sa.Column("previous_secret_until", sa.DateTime(timezone=True), nullable=True),
        schema="notifier",
    )
    op.add_column("endpoints", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True), schema="notifier")
    op.create_index(
        "ix_endpoints_deleted",
        "endpoints",
        ["endpoint_id"],
        unique=False,
        schema="notifier",
        postgresql_where=sa.text("deleted_at IS NOT NULL"),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_endpoints_deleted", table_name="endpoints", schema="notifier")
    for column in ("deleted_at", "previous_secret_until", "previous_sealed_secret"):
        op.drop_column("endpoints", column, schema="notifier")
