"""Statements on profiles as operators see them; phones stay sealed here."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, update

from api.administration.domain import Page, SealedRow
from api.administration.store.paging import paged
from api.profiles.tables import PROFILES
from chassis.database import Transaction


async def rename_profile(tx: Transaction, profile_id: UUID, name: str) -> SealedRow | None:
    """The profile as it is now; None if there is none."""
    statement = update(PROFILES).where(PROFILES.c.id == profile_id).values(name=name).returning(PROFILES)
    row = (await tx.execute(statement)).first()
    return _sealed(row) if row else None


async def find_profile(tx: Transaction, profile_id: UUID) -> SealedRow | None:
    """One profile."""
    row = (await tx.execute(select(PROFILES).where(PROFILES.c.id == profile_id))).first()
    return _sealed(row) if row else None


async def list_profiles(tx: Transaction, page: Page, *, tenant_id: UUID | None) -> Sequence[SealedRow]:
    """Newest first."""
    query = paged(select(PROFILES), PROFILES.c.id, page, wanted={PROFILES.c.tenant_id: tenant_id})
    return [_sealed(row) for row in await tx.execute(query)]


async def delete_profile(tx: Transaction, profile_id: UUID) -> bool:
    """False if there is none."""
    return (await tx.execute(delete(PROFILES).where(PROFILES.c.id == profile_id))).rowcount == 1


def _sealed(row: Any) -> SealedRow:
    fields = {"profile_id": row.id, "tenant_id": row.tenant_id, "name": row.name, "created_at": row.created_at}
    return SealedRow(fields=fields, sealed_phone=row.sealed_phone)
