"""The tables of the dispatcher: what must be sent, over which number, and what came of each try."""

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table

SCHEMA = "dispatcher"

LANE_STORAGE = {**QUEUE_STORAGE, "autovacuum_vacuum_threshold": 200, "fillfactor": 50}
"""Few rows, each updated with every message: room on the page keeps the updates out of the index."""

JOB_STORAGE = {
    "autovacuum_vacuum_scale_factor": 0.02,
    "autovacuum_vacuum_threshold": 2000,
    "autovacuum_vacuum_insert_scale_factor": 0.05,
    "autovacuum_vacuum_cost_delay": 0,
}
"""Every row passes through several partial indexes and then rests for days."""

metadata = schema_metadata(SCHEMA)

outbox = outbox_table(metadata)

lanes = Table(
    "lanes",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("number_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("gateway", Text, nullable=False),
    Column("sealed_access", Text, nullable=False),
    Column("pacing", JSONB, nullable=False),
    Column("gapless", Boolean, nullable=False, server_default=text("false")),
    Column("max_in_flight", SmallInteger, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("in_flight", Integer, nullable=False, server_default="0"),
    Column("otp_slot_at", DateTime(timezone=True), nullable=False),
    Column("utility_slot_at", DateTime(timezone=True), nullable=False),
    Column("marketing_slot_at", DateTime(timezone=True), nullable=False),
    Column("state", Text, nullable=False),
    Column("state_reason", Text),
    Column("state_observed_at", DateTime(timezone=True), nullable=False),
    Column("suspect", Boolean, nullable=False, server_default=text("false")),
    Column("trial", Boolean, nullable=False, server_default=text("false")),
    Column("probe_at", DateTime(timezone=True)),
    Column("probe_failures", Integer, nullable=False, server_default="0"),
    Column("removed_at", DateTime(timezone=True)),
    postgresql_with=LANE_STORAGE,
)
Index("ix_lanes_removed", lanes.c.removed_at, postgresql_where=text("removed_at IS NOT NULL"))

jobs = Table(
    "jobs",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("tenant_id", Uuid, nullable=False),
    Column("project_id", Uuid, nullable=False),
    Column("number_id", Uuid, nullable=False),
    Column("instance", Text, nullable=False),
    Column("environment", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("correlation_id", Text, nullable=False),
    Column("tenant_weight", Integer, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("urgent", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("due_at", DateTime(timezone=True), nullable=False),
    Column("deliver_until", DateTime(timezone=True), nullable=False),
    Column("sealed", Text),
    Column("recipient_hash", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("lease_token", Uuid),
    Column("lease_until", DateTime(timezone=True)),
    Column("started_at", DateTime(timezone=True)),
    Column("suspected_since", DateTime(timezone=True)),
    Column("resolve_after", DateTime(timezone=True)),
    Column("resolve_by", DateTime(timezone=True)),
    Column("next_check_at", DateTime(timezone=True)),
    Column("check_failures", Integer, nullable=False, server_default="0"),
    Column("duplicate_possible", Boolean, nullable=False, server_default=text("false")),
    Column("reason", Text),
    Column("error_code", Text),
    Column("key_id", Text),
    Column("proof", Text),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("finished_at", DateTime(timezone=True)),
    postgresql_with=JOB_STORAGE,
)

SUSPECTS = "suspected_since IS NOT NULL AND state IN ('UNCERTAIN', 'READY', 'SCHEDULED')"

Index(
    "ix_jobs_ready",
    jobs.c.instance,
    jobs.c.priority,
    jobs.c.urgent.desc(),
    jobs.c.due_at,
    postgresql_where=text("state = 'READY'"),
)
Index("ix_jobs_scheduled", jobs.c.due_at, postgresql_where=text("state = 'SCHEDULED'"))
Index("ix_jobs_leased", jobs.c.lease_until, postgresql_where=text("state = 'IN_FLIGHT'"))
Index("ix_jobs_unchecked", jobs.c.next_check_at, postgresql_where=text("state = 'UNCERTAIN'"))
Index("ix_jobs_suspects", jobs.c.instance, jobs.c.recipient_hash, jobs.c.text_hash, postgresql_where=text(SUSPECTS))
Index(
    "ix_jobs_waiting",
    jobs.c.instance,
    jobs.c.priority,
    jobs.c.state,
    postgresql_where=text("state IN ('SCHEDULED', 'UNCERTAIN')"),
)
Index("ix_jobs_deadline", jobs.c.deliver_until, postgresql_where=text("state IN ('READY', 'SCHEDULED')"))
Index("ix_jobs_key", jobs.c.instance, jobs.c.key_id, postgresql_where=text("key_id IS NOT NULL"))
Index("ix_jobs_finished", jobs.c.finished_at, postgresql_where=text("finished_at IS NOT NULL"))

attempts = Table(
    "attempts",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
    Column("outcome", Text),
    Column("reason", Text),
    Column("detail", Text),
    postgresql_with={"fillfactor": 85},
)

echoes = Table(
    "echoes",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("key_id", Text, primary_key=True),
    Column("recipient_hash", Text),
    Column("text_hash", Text),
    Column("observed_at", DateTime(timezone=True), nullable=False),
)
Index("ix_echoes_observed", echoes.c.observed_at)
Index("ix_echoes_lane", echoes.c.instance, echoes.c.observed_at)
Index("ix_echoes_content", echoes.c.instance, echoes.c.recipient_hash, echoes.c.text_hash)
