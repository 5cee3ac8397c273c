"""Recipients who must be forgotten, and opt-ins of which only the hash is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A table, and a column that may be empty: replicas of before the change do not mind either."""
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        sa.Column("sealed_recipient", sa.Text(), nullable=True),
        sa.Column(
            "requested_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("walk", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("cursor", sa.Uuid(), nullable=True),
        sa.Column("look_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        *(
            sa.Column(name, sa.Integer(), server_default="0", nullable=False)
            for name in (
                "messages_forgotten",
                "messages_canceled",
                "messages_waiting",
                "profiles_deleted",
                "opt_ins_revoked",
            )
        ),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
        schema="api",
    )
    op.create_index(
        "ix_erasures_open",
        "erasures",
        ["look_at"],
        unique=False,
        schema="api",
        postgresql_where=sa.text("completed_at IS NULL"),
    )
    op.alter_column("opt_ins", "sealed_phone", nullable=True, schema="api")


def downgrade() -> None:
    """Opt-ins without a phone cannot be kept by what requires one."""
    op.execute("DELETE FROM api.opt_ins WHERE sealed_phone IS NULL")
    op.alter_column("opt_ins", "sealed_phone", nullable=False, schema="api")
    op.drop_index("ix_erasures_open", table_name="erasures", schema="api")
    op.drop_table("erasures", schema="api")
