"""What acceptance needs: plans, packages, profiles, usage, idempotency keys and opt-ins."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and the columns that older rows get defaults for."""
    _create_limits()
    _create_people()
    _create_idempotency_keys()
    op.add_column("tenants", sa.Column("plan_id", sa.Uuid(), nullable=True), schema="api")
    op.create_foreign_key(
        "fk_tenants_plan_id", "tenants", "plans", ["plan_id"], ["id"], source_schema="api", referent_schema="api"
    )
    op.add_column("tenants", sa.Column("timezone", sa.Text(), server_default="UTC", nullable=False), schema="api")
    op.add_column("tenants", sa.Column("default_country", sa.Text(), nullable=True), schema="api")
    op.add_column("api_keys", sa.Column("scope", sa.Text(), server_default="default", nullable=False), schema="api")
    op.execute("UPDATE api.api_keys SET scope = 'number' WHERE number_id IS NOT NULL")
    op.add_column("messages", sa.Column("kind", sa.Text(), server_default="text", nullable=False), schema="api")
    op.add_column("messages", sa.Column("labels", sa.ARRAY(sa.Text()), nullable=True), schema="api")
    op.add_column("messages", sa.Column("usage_day", sa.Date(), nullable=True), schema="api")
    op.add_column("messages", sa.Column("usage_month", sa.Date(), nullable=True), schema="api")
    op.add_column(
        "messages",
        sa.Column("usage_returned", sa.Boolean(), server_default="false", nullable=False),
        schema="api",
    )


def _created_at() -> sa.Column[object]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def _create_limits() -> None:
    op.create_table(
        "plans",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("live_monthly", sa.Integer(), nullable=True),
        sa.Column("live_daily", sa.Integer(), nullable=True),
        sa.Column("test_daily", sa.Integer(), nullable=True),
        sa.Column("test_anyone", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("media_allowed", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("requests_per_minute", sa.Integer(), nullable=True),
        _created_at(),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
        sa.UniqueConstraint("name", name="uq_plans_name"),
        schema="api",
    )
    op.create_table(
        "packages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        _created_at(),
        sa.ForeignKeyConstraint(["tenant_id"], ["api.tenants.id"], name="fk_packages_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_packages"),
        schema="api",
    )
    op.create_index("ix_packages_tenant_id", "packages", ["tenant_id", "ends_at"], unique=False, schema="api")
    op.create_table(
        "usage",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("counter", sa.Text(), nullable=False),
        sa.Column("period", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "counter", "period", name="pk_usage"),
        schema="api",
        postgresql_with={"fillfactor": 50, "autovacuum_vacuum_threshold": 1000, "autovacuum_vacuum_scale_factor": 0},
    )


def _create_people() -> None:
    op.create_table(
        "profiles",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed_phone", sa.Text(), nullable=False),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        _created_at(),
        sa.ForeignKeyConstraint(["tenant_id"], ["api.tenants.id"], name="fk_profiles_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_profiles"),
        sa.UniqueConstraint("tenant_id", "recipient_hash", name="uq_profiles_tenant_id_recipient_hash"),
        schema="api",
    )
    op.create_table(
        "opt_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("sealed_phone", sa.Text(), nullable=False),
        sa.Column("first_opt_in_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["api.projects.id"], name="fk_opt_ins_project_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["api.tenants.id"], name="fk_opt_ins_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_opt_ins"),
        sa.UniqueConstraint("project_id", "recipient_hash", name="uq_opt_ins_project_id_recipient_hash"),
        schema="api",
    )
    op.create_index("ix_opt_ins_tenant_id", "opt_ins", ["tenant_id"], unique=False, schema="api")


def _create_idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("number_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "environment", "number_id", "key", name="pk_idempotency_keys"),
        schema="api",
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False, schema="api")


def downgrade() -> None:
    """Drop them."""
    for column in ("kind", "labels", "usage_day", "usage_month", "usage_returned"):
        op.drop_column("messages", column, schema="api")
    op.drop_column("api_keys", "scope", schema="api")
    op.drop_constraint("fk_tenants_plan_id", "tenants", schema="api")
    for column in ("plan_id", "timezone", "default_country"):
        op.drop_column("tenants", column, schema="api")
    for table in ("idempotency_keys", "opt_ins", "profiles", "usage", "packages", "plans"):
        op.drop_table(table, schema="api")
