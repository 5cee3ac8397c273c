"""Numbers whose life customers are told of: who they belong to, how they were last seen, what was told already."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "numbers",
        sa.Column("number_id", sa.Uuid(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Uuid()),
        sa.Column("sealed_profile", sa.Text()),
        sa.Column("version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("told_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("news", sa.Integer(), server_default="0", nullable=False),
        sa.Column("removed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("connected", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True)),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.Column("purged_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("number_id", name="pk_numbers"),
        schema="notifier",
    )
    op.create_index("ix_numbers_instance", "numbers", ["instance"], unique=False, schema="notifier")
    for column in ("closed_at", "purged_at"):
        op.create_index(
            f"ix_numbers_{column}",
            "numbers",
            [column],
            unique=False,
            schema="notifier",
            postgresql_where=sa.text(f"{column} IS NOT NULL"),
        )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("numbers", schema="notifier")
