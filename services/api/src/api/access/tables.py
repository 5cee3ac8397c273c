"""API keys, of which only a hash is stored, and when each was last used."""

from sqlalchemy import Column, DateTime, ForeignKey, Index, LargeBinary, Table, Text, Uuid, func

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
    Column("scope", Text, nullable=False, server_default="default"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("revoked_at", DateTime(timezone=True)),
    Column("last4", Text),
)

Index("ix_api_keys_number_id", API_KEYS.c.number_id, postgresql_where=API_KEYS.c.revoked_at.is_(None))

API_KEY_USES = Table(
    "api_key_uses",
    METADATA,
    Column("key_id", Uuid, ForeignKey(API_KEYS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("last_used_at", DateTime(timezone=True), nullable=False),
    postgresql_with={"fillfactor": 70},
)
"""Beside the keys, so that writing it disturbs nobody who reads or replaces a key."""
