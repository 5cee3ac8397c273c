"""The first tables: lanes, jobs, attempts, echoes and the outbox."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "dispatcher"
QUEUE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}
LANE_STORAGE = {**QUEUE_STORAGE, "autovacuum_vacuum_threshold": 200, "fillfactor": 50}
JOB_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0.02,
    "autovacuum_vacuum_threshold": 2000,
    "autovacuum_vacuum_insert_scale_factor": 0.05,
    "autovacuum_vacuum_cost_delay": 0,
}


def upgrade() -> None:
    """Create everything."""
    create_lanes()
    create_jobs()
    create_job_indexes()
    create_attempts()
    create_echoes()
    create_outbox()


def column(name: str, kind: type[sa.types.TypeEngine[object]], *, default: str | None = None) -> sa.Column[object]:
    """A column that is always filled."""
    return sa.Column(name, kind(), nullable=False, server_default=sa.text(default) if default else None)


def optional(name: str, kind: type[sa.types.TypeEngine[object]]) -> sa.Column[object]:
    """A column that may be empty."""
    return sa.Column(name, kind(), nullable=True)


def moment(name: str, *, default: str | None = None) -> sa.Column[object]:
    """An instant that is always known."""
    return sa.Column(
        name, sa.DateTime(timezone=True), nullable=False, server_default=sa.text(default) if default else None
    )


def optional_moment(name: str) -> sa.Column[object]:
    """An instant that may be unknown."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=True)


def job_index(name: str, columns: Sequence[str | sa.ColumnElement[object]], condition: str) -> None:
    """An index over the jobs that one query asks for."""
    op.create_index(name, "jobs", columns, schema=SCHEMA, postgresql_where=sa.text(condition))


def create_lanes() -> None:
    """One row per number."""
    op.create_table(
        "lanes",
        column("instance", sa.Text),
        column("number_id", sa.Uuid),
        column("version", sa.Integer),
        column("gateway", sa.Text),
        column("sealed_access", sa.Text),
        column("pacing", postgresql.JSONB),
        column("gapless", sa.Boolean, default="false"),
        column("max_in_flight", sa.SmallInteger),
        column("paused", sa.Boolean),
        column("in_flight", sa.Integer, default="0"),
        moment("otp_slot_at"),
        moment("utility_slot_at"),
        moment("marketing_slot_at"),
        column("state", sa.Text),
        optional("state_reason", sa.Text),
        moment("state_observed_at"),
        column("suspect", sa.Boolean, default="false"),
        column("trial", sa.Boolean, default="false"),
        optional_moment("probe_at"),
        column("probe_failures", sa.Integer, default="0"),
        sa.PrimaryKeyConstraint("instance", name="pk_lanes"),
        schema=SCHEMA,
        postgresql_with=LANE_STORAGE,
    )


def create_jobs() -> None:
    """One row per message and round."""
    op.create_table(
        "jobs",
        column("message_id", sa.Uuid),
        column("round", sa.Integer),
        column("tenant_id", sa.Uuid),
        column("project_id", sa.Uuid),
        column("number_id", sa.Uuid),
        column("instance", sa.Text),
        column("environment", sa.Text),
        column("category", sa.Text),
        column("correlation_id", sa.Text),
        column("tenant_weight", sa.Integer),
        column("priority", sa.SmallInteger),
        column("urgent", sa.Boolean),
        column("state", sa.Text),
        moment("due_at"),
        moment("deliver_until"),
        optional("sealed", sa.Text),
        column("recipient_hash", sa.Text),
        column("text_hash", sa.Text),
        column("attempt", sa.Integer, default="0"),
        optional("lease_token", sa.Uuid),
        optional_moment("lease_until"),
        optional_moment("started_at"),
        *resolution_columns(),
        moment("created_at", default="now()"),
        moment("updated_at", default="now()"),
        optional_moment("finished_at"),
        sa.PrimaryKeyConstraint("message_id", "round", name="pk_jobs"),
        schema=SCHEMA,
        postgresql_with=JOB_STORAGE,
    )


def resolution_columns() -> list[sa.Column[object]]:
    """How a job ends, and how it is found out where nobody knows."""
    return [
        optional_moment("suspected_since"),
        optional_moment("resolve_after"),
        optional_moment("resolve_by"),
        optional_moment("next_check_at"),
        column("check_failures", sa.Integer, default="0"),
        column("duplicate_possible", sa.Boolean, default="false"),
        optional("reason", sa.Text),
        optional("error_code", sa.Text),
        optional("key_id", sa.Text),
        optional("proof", sa.Text),
    ]


def create_job_indexes() -> None:
    """One per question that is asked often."""
    job_index("ix_jobs_ready", ["instance", "priority", sa.literal_column("urgent DESC"), "due_at"], "state = 'READY'")
    job_index("ix_jobs_scheduled", ["due_at"], "state = 'SCHEDULED'")
    job_index("ix_jobs_leased", ["lease_until"], "state = 'IN_FLIGHT'")
    job_index("ix_jobs_unchecked", ["next_check_at"], "state = 'UNCERTAIN'")
    job_index(
        "ix_jobs_suspects",
        ["instance", "recipient_hash", "text_hash"],
        "suspected_since IS NOT NULL AND state IN ('UNCERTAIN', 'READY', 'SCHEDULED')",
    )
    job_index("ix_jobs_deadline", ["deliver_until"], "state IN ('READY', 'SCHEDULED')")
    job_index("ix_jobs_key", ["instance", "key_id"], "key_id IS NOT NULL")
    job_index("ix_jobs_finished", ["finished_at"], "finished_at IS NOT NULL")


def create_attempts() -> None:
    """One row per try, written before it is made."""
    op.create_table(
        "attempts",
        column("message_id", sa.Uuid),
        column("round", sa.Integer),
        column("attempt", sa.Integer),
        moment("started_at"),
        optional_moment("finished_at"),
        optional("outcome", sa.Text),
        optional("reason", sa.Text),
        optional("detail", sa.Text),
        sa.PrimaryKeyConstraint("message_id", "round", "attempt", name="pk_attempts"),
        schema=SCHEMA,
        postgresql_with={"fillfactor": 85},
    )


def create_echoes() -> None:
    """What numbers were seen sending."""
    op.create_table(
        "echoes",
        column("instance", sa.Text),
        column("key_id", sa.Text),
        optional("recipient_hash", sa.Text),
        optional("text_hash", sa.Text),
        moment("observed_at"),
        sa.PrimaryKeyConstraint("instance", "key_id", name="pk_echoes"),
        schema=SCHEMA,
    )
    op.create_index("ix_echoes_observed", "echoes", ["observed_at"], schema=SCHEMA)
    op.create_index("ix_echoes_lane", "echoes", ["instance", "observed_at"], schema=SCHEMA)
    op.create_index("ix_echoes_content", "echoes", ["instance", "recipient_hash", "text_hash"], schema=SCHEMA)


def create_outbox() -> None:
    """What was said and is not confirmed yet."""
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        column("statement_id", sa.Uuid),
        column("exchange", sa.Text),
        column("routing_key", sa.Text),
        column("type", sa.Text),
        column("body", sa.LargeBinary),
        column("headers", postgresql.JSONB),
        moment("said_at", default="clock_timestamp()"),
        column("attempts", sa.SmallInteger, default="0"),
        optional_moment("not_before"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        schema=SCHEMA,
        postgresql_with=QUEUE_STORAGE,
    )
