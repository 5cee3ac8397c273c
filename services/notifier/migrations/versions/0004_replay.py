"""Deliveries that are made again, and endpoints that say since when they are off."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and the index that lists an endpoint's deliveries by time."""
    op.add_column("endpoints", sa.Column("disabled_at", sa.DateTime(timezone=True)), schema="notifier")
    op.execute("UPDATE notifier.endpoints SET disabled_at = updated_at WHERE NOT active AND deleted_at IS NULL")
    op.execute(
        "UPDATE notifier.endpoints SET disabled_reason = 'CUSTOMER'"
        " WHERE NOT active AND deleted_at IS NULL AND disabled_reason IS NULL"
    )
    op.add_column(
        "deliveries",
        sa.Column("attempts_before", sa.SmallInteger(), server_default="0", nullable=False),
        schema="notifier",
    )
    op.create_index(
        "ix_deliveries_endpoint_id_delivery_id",
        "deliveries",
        ["endpoint_id", "delivery_id"],
        unique=False,
        schema="notifier",
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_deliveries_endpoint_id_delivery_id", table_name="deliveries", schema="notifier")
    op.drop_column("deliveries", "attempts_before", schema="notifier")
    op.drop_column("endpoints", "disabled_at", schema="notifier")
