"""API keys: only a hash is stored."""

from sqlalchemy import Column, DateTime, ForeignKey, LargeBinary, Table, Text, Uuid, func

from api.tables import METADATA

API_KEYS = Table(
    "api_keys",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    Column("project_id", Uuid, ForeignKey("api.projects.id"), nullable=False),
    Column("environment", Text, nullable=False),
    Column("number_id", Uuid, ForeignKey("api.numbers.id")),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("revoked_at", DateTime(timezone=True)),
)
