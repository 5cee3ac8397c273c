"""Phone numbers of a tenant's own people; the phone is sealed under the profile's id."""

from sqlalchemy import Column, DateTime, ForeignKey, Table, Text, UniqueConstraint, Uuid, func

from api.tables import METADATA

PROFILES = Table(
    "profiles",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("sealed_phone", Text, nullable=False),
    Column("recipient_hash", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("tenant_id", "recipient_hash"),
)
