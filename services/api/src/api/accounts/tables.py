"""Tenants and projects. A tenant without a plan has no limits; `default_country` is an ISO code like BR."""

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)

from api.tables import METADATA

TENANTS = Table(
    "tenants",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("weight", Integer, nullable=False, server_default="1"),
    Column("plan_id", Uuid, ForeignKey("api.plans.id")),
    Column("timezone", Text, nullable=False, server_default="UTC"),
    Column("default_country", Text),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

PROJECTS = Table(
    "projects",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("production_approved", Boolean, nullable=False, server_default="false"),
    Column("slug", Text, nullable=False, server_default=text("gen_random_uuid()::text")),
    Column("description", Text, nullable=False, server_default=""),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("tenant_id", "slug"),
)
