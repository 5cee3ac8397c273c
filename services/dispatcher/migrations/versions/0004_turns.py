"""Lanes take turns by fair-queueing tags, keep their pace in arrays and say when they deserve a look."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SCHEMA = "dispatcher"
LANE_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 200,
    "autovacuum_vacuum_insert_scale_factor": 0,
    "autovacuum_vacuum_insert_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
    "fillfactor": 50,
}
SLOTS = ("otp_slot_at", "utility_slot_at", "marketing_slot_at")

PACES = """
    UPDATE dispatcher.lanes
       SET wake_at = now(), hour_at = array_fill(now(), ARRAY[6]),
           gap_at = ARRAY[otp_slot_at, utility_slot_at, marketing_slot_at,
                          otp_slot_at, utility_slot_at, marketing_slot_at],
           day_at = array_fill(now(), ARRAY[6]), passed = ARRAY[0, 0, 0], cold_at = now(),
           floors = array_fill(0.0::float8, ARRAY[24]), virtual = array_fill(0.0::float8, ARRAY[6])
"""

CONTACTS = """
    INSERT INTO dispatcher.contacts (instance, recipient_hash, last_text_hash, last_sent_at)
    SELECT DISTINCT ON (instance, recipient_hash) instance, recipient_hash, text_hash, finished_at
      FROM dispatcher.jobs WHERE state = 'DISPATCHED' AND finished_at IS NOT NULL AND recipient_hash <> ''
     ORDER BY instance, recipient_hash, finished_at DESC
"""

HOMELESS = """
    UPDATE dispatcher.jobs AS job SET state = 'SCHEDULED', parked = true
     WHERE state = 'READY' AND NOT EXISTS (SELECT FROM dispatcher.lanes WHERE lanes.instance = job.instance)
"""

TAGS = """
    WITH queued AS (
        SELECT message_id, round,
               coalesce(sum(1.0::float8 / tenant_weight) OVER (
                   PARTITION BY instance, rank, tenant_id ORDER BY due_at, message_id
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS tag
          FROM dispatcher.jobs WHERE state = 'READY')
    UPDATE dispatcher.jobs AS job
       SET tag = queued.tag,
           cold = NOT EXISTS (SELECT FROM dispatcher.contacts AS known
                               WHERE known.instance = job.instance AND known.recipient_hash = job.recipient_hash)
      FROM queued WHERE job.message_id = queued.message_id AND job.round = queued.round
"""

FLOWS = """
    INSERT INTO dispatcher.flows (instance, rank, tenant_id, finish)
    SELECT instance, rank, tenant_id, sum(1.0::float8 / tenant_weight)
      FROM dispatcher.jobs WHERE state = 'READY' GROUP BY instance, rank, tenant_id
"""


def upgrade() -> None:
    """What waits keeps its order between tenants as if it had arrived just now."""
    create_flows_and_contacts()
    add_columns()
    for statement in (PACES, CONTACTS, HOMELESS, TAGS, FLOWS):
        op.execute(statement)
    tighten()
    create_indexes()


def downgrade() -> None:
    """Back to one slot per category."""
    for name in ("ix_jobs_ready", "ix_jobs_scheduled", "ix_jobs_parked"):
        op.drop_index(name, table_name="jobs", schema=SCHEMA)
    op.drop_index("ix_lanes_wake", table_name="lanes", schema=SCHEMA)
    op.drop_constraint(op.f("ck_jobs_ready_is_tagged"), "jobs", schema=SCHEMA)
    for name in SLOTS:
        op.add_column("lanes", sa.Column(name, sa.DateTime(timezone=True)), schema=SCHEMA)
    op.add_column("lanes", sa.Column("gapless", sa.Boolean(), nullable=False, server_default="false"), schema=SCHEMA)
    op.execute("UPDATE dispatcher.lanes SET (otp_slot_at, utility_slot_at, marketing_slot_at) = "
               "(gap_at[4], gap_at[5], gap_at[6])")  # fmt: skip
    for name in SLOTS:
        op.alter_column("lanes", name, nullable=False, schema=SCHEMA)
    for name in PACE_COLUMNS:
        op.drop_column("lanes", name, schema=SCHEMA)
    op.execute("UPDATE dispatcher.jobs SET parked = false, state = 'READY' WHERE parked AND state = 'SCHEDULED'")
    for name in ("rank", "cold", "tag", "parked"):
        op.drop_column("jobs", name, schema=SCHEMA)
    op.drop_table("flows", schema=SCHEMA)
    op.drop_table("contacts", schema=SCHEMA)
    op.create_index("ix_jobs_ready", "jobs", ["instance", "priority", sa.literal_column("urgent DESC"), "due_at"],
                    schema=SCHEMA, postgresql_where=sa.text("state = 'READY'"))  # fmt: skip
    op.create_index("ix_jobs_scheduled", "jobs", ["due_at"], schema=SCHEMA,
                    postgresql_where=sa.text("state = 'SCHEDULED'"))  # fmt: skip


INSTANTS, NUMBERS = postgresql.ARRAY(sa.DateTime(timezone=True)), postgresql.ARRAY(sa.Double())
PACE_COLUMNS = {
    "wake_at": sa.DateTime(timezone=True),
    "gap_at": INSTANTS,
    "hour_at": INSTANTS,
    "day_at": INSTANTS,
    "passed": postgresql.ARRAY(sa.Integer()),
    "cold_at": sa.DateTime(timezone=True),
    "cold_until": sa.DateTime(timezone=True),
    "floors": NUMBERS,
    "virtual": NUMBERS,
    "platform_default": sa.Boolean(),
    "resumed": sa.Boolean(),
}


def create_flows_and_contacts() -> None:
    """Each tenant's finish tags, and whom each number has written to."""
    op.create_table(
        "flows",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("rank", sa.SmallInteger(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("finish", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("instance", "rank", "tenant_id", name="pk_flows"),
        schema=SCHEMA,
        postgresql_with=LANE_STORAGE,
    )
    op.create_table(
        "contacts",
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("recipient_hash", sa.Text(), nullable=False),
        sa.Column("last_text_hash", sa.Text(), nullable=False),
        sa.Column("last_sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("instance", "recipient_hash", name="pk_contacts"),
        schema=SCHEMA,
        postgresql_with={"fillfactor": 85},
    )


def add_columns() -> None:
    """Empty at first, but for the rank, which follows from what is there."""
    for name, kind in PACE_COLUMNS.items():
        op.add_column("lanes", sa.Column(name, kind), schema=SCHEMA)
    rank = sa.Computed("priority * 2 + CASE WHEN urgent THEN 0 ELSE 1 END", persisted=True)
    op.add_column("jobs", sa.Column("rank", sa.SmallInteger(), rank, nullable=False), schema=SCHEMA)
    for name, default in (("cold", "true"), ("parked", "false")):
        flag = sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.text(default))
        op.add_column("jobs", flag, schema=SCHEMA)
    op.add_column("jobs", sa.Column("tag", sa.Double()), schema=SCHEMA)


def tighten() -> None:
    """What is filled stays filled, and the slots go."""
    op.execute("UPDATE dispatcher.lanes SET platform_default = false, resumed = false")
    for name in ("platform_default", "resumed"):
        op.alter_column("lanes", name, server_default=sa.text("false"), schema=SCHEMA)
    for name in PACE_COLUMNS:
        if name not in ("wake_at", "cold_until"):
            op.alter_column("lanes", name, nullable=False, schema=SCHEMA)
    for name in (*SLOTS, "gapless"):
        op.drop_column("lanes", name, schema=SCHEMA)
    name = op.f("ck_jobs_ready_is_tagged")
    op.create_check_constraint(name, "jobs", "state <> 'READY' OR tag IS NOT NULL", schema=SCHEMA)


def create_indexes() -> None:
    """The head of each stream, what comes due, what waits for its number, and which lanes deserve a look."""
    op.drop_index("ix_jobs_ready", table_name="jobs", schema=SCHEMA)
    op.drop_index("ix_jobs_scheduled", table_name="jobs", schema=SCHEMA)
    for name, columns, condition in (
        (
            "ix_jobs_ready",
            ["instance", "rank", "environment", "cold", "tag", "due_at", "message_id"],
            "state = 'READY'",
        ),
        ("ix_jobs_scheduled", ["due_at"], "state = 'SCHEDULED' AND NOT parked"),
        ("ix_jobs_parked", ["instance"], "state = 'SCHEDULED' AND parked"),
    ):
        op.create_index(name, "jobs", columns, schema=SCHEMA, postgresql_where=sa.text(condition))
    op.create_index(
        "ix_lanes_wake",
        "lanes",
        ["wake_at"],
        schema=SCHEMA,
        postgresql_where=sa.text("wake_at IS NOT NULL AND NOT paused AND (state = 'OPEN' OR trial)"),
    )
