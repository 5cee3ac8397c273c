"""The first tables of the notifier: endpoints, deliveries, their attempts, and the outbox."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

QUEUE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}
"""Vacuum by count, early, at full speed."""


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "delivery_attempts",
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("problem", sa.Text()),
        sa.Column("sealed_response", sa.Text()),
        sa.PrimaryKeyConstraint("delivery_id", "attempt", name="pk_delivery_attempts"),
        schema="notifier",
    )
    op.create_index(
        "ix_delivery_attempts_endpoint_id_started_at",
        "delivery_attempts",
        ["endpoint_id", "started_at"],
        unique=False,
        schema="notifier",
    )
    op.create_table(
        "endpoints",
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("number_id", sa.Uuid(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("disabled_reason", sa.Text()),
        sa.Column("in_flight", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True)),
        sa.Column("last_triggered_at", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("in_flight >= 0", name=op.f("ck_endpoints_in_flight")),
        sa.PrimaryKeyConstraint("endpoint_id", name="pk_endpoints"),
        schema="notifier",
        postgresql_with={**QUEUE_STORAGE, "fillfactor": 70},
    )
    op.create_index("ix_endpoints_number_id", "endpoints", ["number_id"], unique=False, schema="notifier")
    op.create_index("ix_endpoints_tenant_id", "endpoints", ["tenant_id"], unique=False, schema="notifier")
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
        sa.Column("not_before", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        schema="notifier",
        postgresql_with=QUEUE_STORAGE,
    )
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("ref", postgresql.JSONB(), nullable=False),
        sa.Column("sealed_body", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), server_default="PENDING", nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("lease_token", sa.Uuid()),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("last_status", sa.SmallInteger()),
        sa.Column("last_problem", sa.Text()),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "state IN ('PENDING', 'SENDING', 'DELIVERED', 'EXHAUSTED')", name=op.f("ck_deliveries_state")
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"], ["notifier.endpoints.endpoint_id"], name="fk_deliveries_endpoint_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_deliveries"),
        sa.UniqueConstraint(
            "endpoint_id", "message_id", "round", "version", name="uq_deliveries_endpoint_id_message_id_round_version"
        ),
        schema="notifier",
        postgresql_with=QUEUE_STORAGE,
    )
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["endpoint_id", "due_at"],
        unique=False,
        schema="notifier",
        postgresql_where=sa.text("state = 'PENDING'"),
    )
    op.create_index(
        "ix_deliveries_sending",
        "deliveries",
        ["lease_until"],
        unique=False,
        schema="notifier",
        postgresql_where=sa.text("state = 'SENDING'"),
    )
