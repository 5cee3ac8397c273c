"""Numbers; a tenant's own, or the platform's (tenant_id is null), one of which is the default."""

from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Index, Integer, Table, Text, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB

from api.tables import METADATA

NUMBERS = Table(
    "numbers",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id")),
    Column("instance", Text, nullable=False, unique=True),
    Column("display_name", Text),
    Column("phone", Text),
    Column("platform_default", Boolean, nullable=False, server_default="false"),
    Column("gateway", Text, nullable=False),
    Column("sealed_access", Text, nullable=False),
    Column("pacing", JSONB, nullable=False),
    Column("paused", Boolean, nullable=False, server_default="false"),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("state", Text, nullable=False, server_default="CONNECTING"),
    Column("state_observed_at", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("connected_at", DateTime(timezone=True)),
    Column("deleted_at", DateTime(timezone=True)),
    Column("pii_mode", Text, nullable=False, server_default="STORE_INDEFINITE"),
    Column("pii_retention_days", Integer),
    Column("settings", JSONB, nullable=False, server_default="{}"),
)

Index("ix_numbers_tenant_id", NUMBERS.c.tenant_id)

Index(
    "uq_numbers_platform_default",
    NUMBERS.c.platform_default,
    unique=True,
    postgresql_where=NUMBERS.c.platform_default,
)
