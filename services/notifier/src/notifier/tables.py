"""The notifier's tables: customers' endpoints, what is owed to them, every attempt at it, and known numbers."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from chassis.migrations import schema_metadata
from chassis.outbox import QUEUE_STORAGE, outbox_table
from chassis.retention import Kept
from chassis.sealed_columns import SealedColumn

SCHEMA = "notifier"

metadata = schema_metadata(SCHEMA)
outbox = outbox_table(metadata)

endpoints = Table(
    "endpoints",
    metadata,
    Column("endpoint_id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, nullable=False),
    Column("number_id", Uuid, nullable=False),
    Column("instance", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("events", ARRAY(Text), nullable=False),
    Column("sealed_secret", Text, nullable=False),
    Column("previous_sealed_secret", Text),
    Column("previous_secret_until", DateTime(timezone=True)),
    Column("active", Boolean, nullable=False, server_default=text("true")),
    Column("disabled_reason", Text),
    Column("disabled_at", DateTime(timezone=True)),
    Column("in_flight", Integer, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("failing_since", DateTime(timezone=True)),
    Column("last_triggered_at", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("deleted_at", DateTime(timezone=True)),
    CheckConstraint("in_flight >= 0", name="in_flight"),
    postgresql_with={**QUEUE_STORAGE, "fillfactor": 70},
)
Index("ix_endpoints_number_id", endpoints.c.number_id)
Index("ix_endpoints_tenant_id", endpoints.c.tenant_id)
Index("ix_endpoints_deleted", endpoints.c.endpoint_id, postgresql_where=endpoints.c.deleted_at.is_not(None))

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery_id", Uuid, primary_key=True),
    Column("endpoint_id", Uuid, ForeignKey(endpoints.c.endpoint_id, ondelete="CASCADE"), nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("message_id", Uuid, nullable=False),
    Column("round", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("event", Text, nullable=False),
    Column("ref", JSONB, nullable=False),
    Column("sealed_body", Text, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False),
    Column("state", Text, nullable=False, server_default="PENDING"),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("attempts_before", SmallInteger, nullable=False, server_default="0"),
    Column("due_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("lease_token", Uuid),
    Column("lease_until", DateTime(timezone=True)),
    Column("last_status", SmallInteger),
    Column("last_problem", Text),
    Column("finished_at", DateTime(timezone=True)),
    UniqueConstraint("endpoint_id", "message_id", "round", "version"),
    CheckConstraint("state IN ('PENDING', 'SENDING', 'DELIVERED', 'EXHAUSTED')", name="state"),
    postgresql_with=QUEUE_STORAGE,
)
Index(
    "ix_deliveries_pending",
    deliveries.c.endpoint_id,
    deliveries.c.due_at,
    postgresql_where=deliveries.c.state == text("'PENDING'"),
)
Index("ix_deliveries_endpoint_id_delivery_id", deliveries.c.endpoint_id, deliveries.c.delivery_id)
Index("ix_deliveries_sending", deliveries.c.lease_until, postgresql_where=deliveries.c.state == text("'SENDING'"))

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    Column("delivery_id", Uuid, primary_key=True),
    Column("attempt", SmallInteger, primary_key=True),
    Column("endpoint_id", Uuid, nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("status", SmallInteger),
    Column("problem", Text),
    Column("sealed_response", Text),
)
Index("ix_delivery_attempts_endpoint_id_started_at", delivery_attempts.c.endpoint_id, delivery_attempts.c.started_at)

numbers = Table(
    "numbers",
    metadata,
    Column("number_id", Uuid, primary_key=True),
    Column("instance", Text, nullable=False),
    Column("tenant_id", Uuid),
    Column("sealed_profile", Text),
    Column("version", Integer, nullable=False, server_default="0"),
    Column("told_version", Integer, nullable=False, server_default="0"),
    Column("news", Integer, nullable=False, server_default="0"),
    Column("removed", Boolean, nullable=False, server_default=text("false")),
    Column("connected", Boolean, nullable=False, server_default=text("false")),
    Column("observed_at", DateTime(timezone=True)),
    Column("closed_at", DateTime(timezone=True)),
    Column("purged_at", DateTime(timezone=True)),
)
Index("ix_numbers_instance", numbers.c.instance)
Index("ix_numbers_closed_at", numbers.c.closed_at, postgresql_where=numbers.c.closed_at.is_not(None))
Index("ix_numbers_purged_at", numbers.c.purged_at, postgresql_where=numbers.c.purged_at.is_not(None))

SEALED_BODIES = SealedColumn(column=deliveries.c.sealed_body, aad=deliveries.c.delivery_id)
SEALED = (
    SealedColumn(column=endpoints.c.sealed_secret, aad=endpoints.c.endpoint_id),
    SealedColumn(column=endpoints.c.previous_sealed_secret, aad=endpoints.c.endpoint_id),
    SEALED_BODIES,
    SealedColumn(column=delivery_attempts.c.sealed_response, aad=delivery_attempts.c.delivery_id),
    SealedColumn(column=numbers.c.sealed_profile, aad=numbers.c.number_id),
    SealedColumn(column=outbox.c.body),
)

KEPT = (
    Kept(kind="delivery", since=deliveries.c.delivery_id),
    Kept(kind="delivery_attempt", since=delivery_attempts.c.delivery_id),
    Kept(kind="purged_number", since=numbers.c.purged_at, where=numbers.c.purged_at.is_not(None)),
)
