"""Statements on opt-ins as operators see them; phones stay sealed here."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from api.administration.domain import Page, SealedRow
from api.administration.store.paging import paged
from api.optins.tables import OPT_INS
from chassis.database import Transaction


async def revoke(tx: Transaction, opt_in_id: UUID) -> SealedRow | None:
    """No consent from now on; None if there was never any. Once withdrawn it stays so since then."""
    since = func.coalesce(OPT_INS.c.revoked_at, func.clock_timestamp())
    statement = update(OPT_INS).where(OPT_INS.c.id == opt_in_id).values(revoked_at=since).returning(OPT_INS)
    row = (await tx.execute(statement)).first()
    return _sealed(row) if row else None


async def find_opt_in(tx: Transaction, opt_in_id: UUID) -> SealedRow | None:
    """One opt-in."""
    row = (await tx.execute(select(OPT_INS).where(OPT_INS.c.id == opt_in_id))).first()
    return _sealed(row) if row else None


async def list_opt_ins(
    tx: Transaction, page: Page, *, tenant_id: UUID | None, project_id: UUID | None
) -> Sequence[SealedRow]:
    """Newest first, revoked ones included."""
    wanted = {OPT_INS.c.tenant_id: tenant_id, OPT_INS.c.project_id: project_id}
    return [_sealed(row) for row in await tx.execute(paged(select(OPT_INS), OPT_INS.c.id, page, wanted=wanted))]


def _sealed(row: Any) -> SealedRow:
    fields = {
        "opt_in_id": row.id,
        "project_id": row.project_id,
        "tenant_id": row.tenant_id,
        "first_opt_in_at": row.first_opt_in_at,
        "last_seen_at": row.last_seen_at,
        "revoked_at": row.revoked_at,
    }
    return SealedRow(fields=fields, sealed_phone=row.sealed_phone)
