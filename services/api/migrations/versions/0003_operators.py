"""Operators with roles, and the log of what they changed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; the log's rows can be added, and never changed or taken away."""
    op.create_table(
        "operators",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'admin')", name=op.f("ck_operators_role")),
        sa.PrimaryKeyConstraint("id", name="pk_operators"),
        sa.UniqueConstraint("public_id", name="uq_operators_public_id"),
        schema="api",
    )
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("operator_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target_type", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("before", postgresql.JSONB(), nullable=True),
        sa.Column("after", postgresql.JSONB(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
        schema="api",
    )
    for column in ("target_id", "operator_id", "action"):
        op.create_index(f"ix_audit_entries_{column}_id", "audit_entries", [column, "id"], unique=False, schema="api")
    op.execute(
        "CREATE FUNCTION api.refuse_to_rewrite() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the log of changes is only added to'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_entries_are_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON api.audit_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION api.refuse_to_rewrite()"
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("audit_entries", schema="api")
    op.execute("DROP FUNCTION api.refuse_to_rewrite()")
    op.drop_table("operators", schema="api")
