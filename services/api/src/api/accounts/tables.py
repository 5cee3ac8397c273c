"""Tenants and projects."""

from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, Table, Text, Uuid, func

from api.tables import METADATA

TENANTS = Table(
    "tenants",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("weight", Integer, nullable=False, server_default="1"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

PROJECTS = Table(
    "projects",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("production_approved", Boolean, nullable=False, server_default="false"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
