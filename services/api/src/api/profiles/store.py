"""Statements on profiles."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from api.profiles.tables import PROFILES
from chassis.database import Transaction


async def list_recipients(tx: Transaction, tenant_id: UUID, *, limit: int) -> frozenset[str]:
    """The hashes of the phone numbers of a tenant's profiles."""
    query = select(PROFILES.c.recipient_hash).where(PROFILES.c.tenant_id == tenant_id).limit(limit)
    return frozenset((await tx.execute(query)).scalars())


async def insert_profile(
    tx: Transaction, *, profile_id: UUID, tenant_id: UUID, name: str, sealed_phone: str, recipient_hash: str
) -> bool:
    """A new profile; False if the tenant has one of this phone number."""
    statement = insert(PROFILES).values(
        id=profile_id, tenant_id=tenant_id, name=name, sealed_phone=sealed_phone, recipient_hash=recipient_hash
    )
    return (await tx.execute(statement.on_conflict_do_nothing().returning(PROFILES.c.id))).first() is not None
