"""The tables of the dispatcher: what must be sent, over which number, and what came of each try."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table
from chassis.retention import Kept
from chassis.sealed_columns import SealedColumn

SCHEMA = "dispatcher"

LANE_STORAGE = {**QUEUE_STORAGE, "autovacuum_vacuum_threshold": 200, "fillfactor": 50}
"""Few rows, each updated with every message: room on the page lets most updates reuse it."""

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
    Column("platform_default", Boolean, nullable=False, server_default=text("false")),
    Column("max_in_flight", SmallInteger, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("in_flight", Integer, nullable=False, server_default="0"),
    Column("wake_at", DateTime(timezone=True)),
    Column("resumed", Boolean, nullable=False, server_default=text("false")),
    Column("gap_at", ARRAY(DateTime(timezone=True)), nullable=False),
    Column("hour_at", ARRAY(DateTime(timezone=True)), nullable=False),
    Column("day_at", ARRAY(DateTime(timezone=True)), nullable=False),
    Column("passed", ARRAY(Integer), nullable=False),
    Column("cold_at", DateTime(timezone=True), nullable=False),
    Column("cold_until", DateTime(timezone=True)),
    Column("floors", ARRAY(Double), nullable=False),
    Column("virtual", ARRAY(Double), nullable=False),
    Column("state", Text, nullable=False),
    Column("state_reason", Text),
    Column("state_observed_at", DateTime(timezone=True), nullable=False),
    Column("suspect", Boolean, nullable=False, server_default=text("false")),
    Column("trial", Boolean, nullable=False, server_default=text("false")),
    Column("probe_at", DateTime(timezone=True)),
    Column("probe_failures", Integer, nullable=False, server_default="0"),
    Column("removed_at", DateTime(timezone=True)),
    Column("silent_since", DateTime(timezone=True)),
    postgresql_with=LANE_STORAGE,
)
Index("ix_lanes_removed", lanes.c.removed_at, postgresql_where=text("removed_at IS NOT NULL"))

CLAIMABLE = "NOT paused AND (state = 'OPEN' OR trial)"
"""A lane that may send, if its pace allows."""

Index("ix_lanes_wake", lanes.c.wake_at, postgresql_where=text(f"wake_at IS NOT NULL AND {CLAIMABLE}"))

flows = Table(
    "flows",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("rank", SmallInteger, primary_key=True),
    Column("tenant_id", Uuid, primary_key=True),
    Column("finish", Double, nullable=False),
    postgresql_with=LANE_STORAGE,
)

contacts = Table(
    "contacts",
    metadata,
    Column("instance", Text, primary_key=True),
    Column("recipient_hash", Text, primary_key=True),
    Column("last_text_hash", Text, nullable=False),
    Column("last_sent_at", DateTime(timezone=True), nullable=False),
    postgresql_with={"fillfactor": 85},
)

RANK = "priority * 2 + CASE WHEN urgent THEN 0 ELSE 1 END"

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
    Column("rank", SmallInteger, Computed(RANK, persisted=True), nullable=False),
    Column("cold", Boolean, nullable=False, server_default=text("true")),
    Column("tag", Double),
    Column("parked", Boolean, nullable=False, server_default=text("false")),
    Column("state", Text, nullable=False),
    Column("due_at", DateTime(timezone=True), nullable=False),
    Column("deliver_until", DateTime(timezone=True), nullable=False),
    Column("sealed", Text),
    Column("recipient_hash", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("lease_token", Uuid),
    Column("lease_until", DateTime(timezone=True)),
    Column("place_given_up", Boolean, nullable=False, server_default=text("false")),
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
    Column("receipt", Text),
    Column("receipt_at", DateTime(timezone=True)),
    CheckConstraint("state <> 'READY' OR tag IS NOT NULL", name="ready_is_tagged"),
    postgresql_with=JOB_STORAGE,
)

SUSPECTS = "suspected_since IS NOT NULL AND state IN ('UNCERTAIN', 'READY', 'SCHEDULED')"

Index(
    "ix_jobs_ready",
    jobs.c.instance,
    jobs.c.rank,
    jobs.c.environment,
    jobs.c.cold,
    jobs.c.tag,
    jobs.c.due_at,
    jobs.c.message_id,
    postgresql_where=text("state = 'READY'"),
)
Index("ix_jobs_scheduled", jobs.c.due_at, postgresql_where=text("state = 'SCHEDULED' AND NOT parked"))
Index("ix_jobs_parked", jobs.c.instance, postgresql_where=text("state = 'SCHEDULED' AND parked"))
Index("ix_jobs_leased", jobs.c.lease_until, postgresql_where=text("state = 'IN_FLIGHT'"))
Index("ix_jobs_given_up", jobs.c.instance, postgresql_where=text("state = 'IN_FLIGHT' AND place_given_up"))
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
Index("ix_jobs_sent", jobs.c.instance, jobs.c.cold, jobs.c.finished_at, postgresql_where=text("state = 'DISPATCHED'"))
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

heartbeat = Table(
    "heartbeat",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("beat_at", DateTime(timezone=True), nullable=False),
    Column("written_by", BigInteger),
    Column("restored_at", DateTime(timezone=True)),
    postgresql_with=LANE_STORAGE,
)
"""One row: when any replica was last at work.

`written_by` is the transaction that wrote the row. It is that of the row's own `xmin`, unless the row came from a dump.
"""

outages = Table(
    "outages",
    metadata,
    Column("began_at", DateTime(timezone=True), primary_key=True),
    Column("ended_at", DateTime(timezone=True), nullable=False),
)

SEALED = (
    SealedColumn(column=lanes.c.sealed_access, aad=lanes.c.number_id),
    SealedColumn(column=jobs.c.sealed, aad=jobs.c.message_id),
    SealedColumn(column=outbox.c.body),
)

KEPT = (
    Kept(kind="job", since=jobs.c.finished_at, where=jobs.c.finished_at.is_not(None)),
    Kept(kind="echo", since=echoes.c.observed_at),
    Kept(kind="removed_lane", since=lanes.c.removed_at, where=lanes.c.removed_at.is_not(None)),
)
