"""Requests to forget a recipient, and how far each has come; only the hash stays once one is done."""

from sqlalchemy import Column, DateTime, Index, Integer, SmallInteger, Table, Text, Uuid, func

from api.tables import METADATA

ERASURES = Table(
    "erasures",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid),
    Column("recipient_hash", Text, nullable=False),
    Column("sealed_recipient", Text),
    Column("requested_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("walk", SmallInteger, nullable=False, server_default="1"),
    Column("cursor", Uuid),
    Column("look_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("messages_forgotten", Integer, nullable=False, server_default="0"),
    Column("messages_canceled", Integer, nullable=False, server_default="0"),
    Column("messages_waiting", Integer, nullable=False, server_default="0"),
    Column("profiles_deleted", Integer, nullable=False, server_default="0"),
    Column("opt_ins_revoked", Integer, nullable=False, server_default="0"),
    Column("completed_at", DateTime(timezone=True)),
)
"""`sealed_recipient` is sealed under the id, and gone at the end. Without a tenant it is everybody's recipient.

`walk` counts how often all messages are gone through, `cursor` is the last one seen in this walk.
"""

Index("ix_erasures_open", ERASURES.c.look_at, postgresql_where=ERASURES.c.completed_at.is_(None))
