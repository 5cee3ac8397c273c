"""Templates and their versions; only an approved version can be sent."""

from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, Table, Text, UniqueConstraint, Uuid, func
from sqlalchemy.dialects.postgresql import JSONB

from api.tables import METADATA

TEMPLATES = Table(
    "templates",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("api.projects.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("environment", Text),
    Column("language", Text, nullable=False, server_default="pt_BR"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("project_id", "name"),
)

TEMPLATE_VERSIONS = Table(
    "template_versions",
    METADATA,
    Column("template_id", Uuid, ForeignKey("api.templates.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("approved_at", DateTime(timezone=True)),
    Column("production_approved", Boolean, nullable=False, server_default="false"),
    Column("state", Text, nullable=False, server_default="DRAFT"),
    Column("examples", JSONB, nullable=False, server_default="{}"),
    Column("rejection_reason", Text),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
