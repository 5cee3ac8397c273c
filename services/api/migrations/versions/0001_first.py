"""The first tables of the api: accounts, numbers, templates, messages, outbox and inbox."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "inbox",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("consumer", "statement_id", name="pk_inbox"),
        schema="api",
    )
    op.create_index("ix_inbox_seen_at", "inbox", ["seen_at"], unique=False, schema="api")
    op.create_table(
        "message_steps",
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("round", sa.SmallInteger(), nullable=False),
        sa.Column("detail", postgresql.JSONB(), nullable=False),
        sa.Column(
            "recorded_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("message_id", "statement_id", name="pk_message_steps"),
        schema="api",
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("number_id", sa.Uuid(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("correlation_id", sa.Text(), nullable=False),
        sa.Column("round", sa.SmallInteger(), server_default="1", nullable=False),
        sa.Column("status", sa.Text(), server_default="QUEUED", nullable=False),
        sa.Column(
            "status_rank",
            sa.SmallInteger(),
            sa.Computed(
                "CASE status "
                "WHEN 'QUEUED' THEN 0 WHEN 'DISPATCHED' THEN 1 WHEN 'SENT' THEN 2 "
                "WHEN 'FAILED' THEN 3 WHEN 'DELIVERED' THEN 4 WHEN 'READ' THEN 5 WHEN 'CANCELED' THEN 6 END",
                persisted=True,
            ),
            nullable=False,
        ),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("source_number", sa.Text(), nullable=True),
        sa.Column("template_name", sa.Text(), nullable=True),
        sa.Column("deliver_by", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deliver_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("urgent", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("duplicate_possible", sa.Boolean(), server_default="false", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        schema="api",
        postgresql_with={"fillfactor": 80},
    )
    op.create_index("ix_messages_correlation_id", "messages", ["correlation_id"], unique=False, schema="api")
    op.create_index(
        "ix_messages_external_id",
        "messages",
        ["external_id"],
        unique=False,
        schema="api",
        postgresql_where=sa.text("external_id IS NOT NULL"),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("exchange", sa.Text(), nullable=False),
        sa.Column("routing_key", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("headers", postgresql.JSONB(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        schema="api",
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0,
            "autovacuum_vacuum_threshold": 1000,
            "autovacuum_vacuum_insert_scale_factor": 0,
            "autovacuum_vacuum_insert_threshold": 1000,
            "autovacuum_vacuum_cost_delay": 0,
        },
    )
    op.create_table(
        "tenants",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("weight", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
        schema="api",
    )
    op.create_table(
        "numbers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("platform_default", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("gateway", sa.Text(), nullable=False),
        sa.Column("sealed_access", sa.Text(), nullable=False),
        sa.Column("pacing", postgresql.JSONB(), nullable=False),
        sa.Column("paused", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("state", sa.Text(), server_default="CONNECTING", nullable=False),
        sa.Column("state_observed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["api.tenants.id"], name="fk_numbers_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_numbers"),
        sa.UniqueConstraint("instance", name="uq_numbers_instance"),
        schema="api",
    )
    op.create_index(
        "uq_numbers_platform_default",
        "numbers",
        ["platform_default"],
        unique=True,
        schema="api",
        postgresql_where=sa.text("platform_default"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("production_approved", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["api.tenants.id"], name="fk_projects_tenant_id"),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        schema="api",
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("number_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["number_id"], ["api.numbers.id"], name="fk_api_keys_number_id"),
        sa.ForeignKeyConstraint(["project_id"], ["api.projects.id"], name="fk_api_keys_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("public_id", name="uq_api_keys_public_id"),
        schema="api",
    )
    op.create_table(
        "templates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["api.projects.id"], name="fk_templates_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_templates"),
        sa.UniqueConstraint("project_id", "name", name="uq_templates_project_id_name"),
        schema="api",
    )
    op.create_table(
        "template_versions",
        sa.Column("template_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("production_approved", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["template_id"], ["api.templates.id"], name="fk_template_versions_template_id"),
        sa.PrimaryKeyConstraint("template_id", "version", name="pk_template_versions"),
        schema="api",
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("template_versions", schema="api")
    op.drop_table("templates", schema="api")
    op.drop_table("api_keys", schema="api")
    op.drop_table("projects", schema="api")
    op.drop_table("numbers", schema="api")
    op.drop_table("tenants", schema="api")
    op.drop_table("outbox", schema="api")
    op.drop_table("messages", schema="api")
    op.drop_table("message_steps", schema="api")
    op.drop_table("inbox", schema="api")
