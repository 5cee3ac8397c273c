"""Plans, packages, and counters of what was accepted."""

from sqlalchemy import Boolean, Column, Date, DateTime, ForeignKey, Index, Integer, Table, Text, Uuid, func

from api.tables import METADATA

PLANS = Table(
    "plans",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("live_monthly", Integer),
    Column("live_daily", Integer),
    Column("test_daily", Integer),
    Column("test_anyone", Boolean, nullable=False, server_default="false"),
    Column("media_allowed", Boolean, nullable=False, server_default="true"),
    Column("requests_per_minute", Integer),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
"""A null limit is none. `live_daily` is what the FREE plan has; `test_anyone` lets TEST keys send beyond profiles."""

PACKAGES = Table(
    "packages",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id"), nullable=False),
    Column("messages", Integer, nullable=False),
    Column("starts_at", DateTime(timezone=True), nullable=False),
    Column("ends_at", DateTime(timezone=True), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
"""While it runs, a package adds its messages to what its tenant may send LIVE in a month."""

Index("ix_packages_tenant_id", PACKAGES.c.tenant_id, PACKAGES.c.ends_at)

USAGE = Table(
    "usage",
    METADATA,
    Column("tenant_id", Uuid, primary_key=True),
    Column("counter", Text, primary_key=True),
    Column("period", Date, primary_key=True),
    Column("used", Integer, nullable=False, server_default="0"),
    postgresql_with={"fillfactor": 50, "autovacuum_vacuum_threshold": 1000, "autovacuum_vacuum_scale_factor": 0},
)
"""`period` is the first day of the month or the day itself, in the tenant's time zone."""
