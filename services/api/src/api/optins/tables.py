"""Consent per project and recipient, compared by hash; the phone is sealed under the row's id, or was erased."""

from sqlalchemy import Column, DateTime, ForeignKey, Index, Table, Text, UniqueConstraint, Uuid, func

from api.tables import METADATA

OPT_INS = Table(
    "opt_ins",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("api.projects.id"), nullable=False),
    Column("recipient_hash", Text, nullable=False),
    Column("tenant_id", Uuid, ForeignKey("api.tenants.id"), nullable=False),
    Column("sealed_phone", Text),
    Column("first_opt_in_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("last_seen_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("revoked_at", DateTime(timezone=True)),
    UniqueConstraint("project_id", "recipient_hash"),
)

Index("ix_opt_ins_tenant_id", OPT_INS.c.tenant_id)
