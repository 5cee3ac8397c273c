"""Template versions, number settings and key rotation."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ADDED = {
    "projects": ("slug", "description"),
    "api_keys": ("last4",),
    "numbers": ("updated_at", "connected_at", "deleted_at", "pii_mode", "pii_retention_days", "settings"),
    "templates": ("environment", "language"),
    "template_versions": ("state", "examples", "rejection_reason"),
}


def upgrade() -> None:
    """Add the columns; rows from before get what describes them."""
    _extend_projects()
    _extend_numbers()
    _extend_templates()
    op.add_column("api_keys", sa.Column("last4", sa.Text(), nullable=True), schema="api")
    op.create_index(
        "ix_api_keys_number_id",
        "api_keys",
        ["number_id"],
        unique=False,
        schema="api",
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def _extend_projects() -> None:
    unique = sa.text("gen_random_uuid()::text")
    op.add_column("projects", sa.Column("slug", sa.Text(), server_default=unique, nullable=False), schema="api")
    op.add_column("projects", sa.Column("description", sa.Text(), server_default="", nullable=False), schema="api")
    op.execute(
        "UPDATE api.projects SET slug = trim(BOTH '-' FROM lower(regexp_replace(left(name, 60), "
        "'[^A-Za-z0-9]+', '-', 'g'))) || '-' || right(id::text, 12)"
    )
    op.create_unique_constraint("uq_projects_tenant_id_slug", "projects", ["tenant_id", "slug"], schema="api")


def _extend_numbers() -> None:
    instant = sa.DateTime(timezone=True)
    for column in (
        sa.Column("updated_at", instant, server_default=sa.text("now()"), nullable=False),
        sa.Column("connected_at", instant, nullable=True),
        sa.Column("deleted_at", instant, nullable=True),
        sa.Column("pii_mode", sa.Text(), server_default="STORE_INDEFINITE", nullable=False),
        sa.Column("pii_retention_days", sa.Integer(), nullable=True),
        sa.Column("settings", postgresql.JSONB(), server_default="{}", nullable=False),
    ):
        op.add_column("numbers", column, schema="api")
    op.execute("UPDATE api.numbers SET connected_at = state_observed_at WHERE state = 'OPEN'")
    op.create_index("ix_numbers_tenant_id", "numbers", ["tenant_id"], unique=False, schema="api")


def _extend_templates() -> None:
    op.add_column("templates", sa.Column("environment", sa.Text(), nullable=True), schema="api")
    op.add_column("templates", sa.Column("language", sa.Text(), server_default="pt_BR", nullable=False), schema="api")
    for column in (
        sa.Column("state", sa.Text(), server_default="DRAFT", nullable=False),
        sa.Column("examples", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("rejection_reason", sa.Text(), nullable=True),
    ):
        op.add_column("template_versions", column, schema="api")
    op.execute("UPDATE api.template_versions SET state = 'APPROVED' WHERE approved_at IS NOT NULL")


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_api_keys_number_id", table_name="api_keys", schema="api")
    op.drop_index("ix_numbers_tenant_id", table_name="numbers", schema="api")
    op.drop_constraint("uq_projects_tenant_id_slug", "projects", schema="api")
    for table, columns in _ADDED.items():
        for column in columns:
            op.drop_column(table, column, schema="api")
