"""Statements on opt-ins."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, bindparam, case, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from api.optins.domain import OptIn
from api.optins.tables import OPT_INS
from chassis.database import Transaction

AUTHORIZED = text("""
SELECT o.project_id, o.recipient_hash FROM api.opt_ins o
JOIN unnest(:projects, :recipients) AS w(project_id, recipient_hash) USING (project_id, recipient_hash)
WHERE o.revoked_at IS NULL
""").bindparams(bindparam("projects", type_=ARRAY(Uuid)), bindparam("recipients", type_=ARRAY(Text)))


async def authorized_among(tx: Transaction, asked: Iterable[tuple[UUID, str]]) -> set[tuple[UUID, str]]:
    """Those pairs of project and recipient for which there is consent."""
    pairs = sorted(set(asked))
    parameters = {"projects": [pair[0] for pair in pairs], "recipients": [pair[1] for pair in pairs]}
    return {(row.project_id, row.recipient_hash) for row in (await tx.execute(AUTHORIZED, parameters)).all()}


async def find_opt_in(tx: Transaction, *, project_id: UUID, recipient_hash: str) -> OptIn | None:
    """A recipient's consent, withdrawn or not."""
    query = select(OPT_INS).where(OPT_INS.c.project_id == project_id, OPT_INS.c.recipient_hash == recipient_hash)
    row = (await tx.execute(query)).first()
    if row is None:
        return None
    return OptIn(
        opt_in_id=row.id,
        first_opt_in_at=row.first_opt_in_at,
        last_seen_at=row.last_seen_at,
        revoked_at=row.revoked_at,
    )


async def grant(
    tx: Transaction,
    *,
    opt_in_id: UUID,
    tenant_id: UUID,
    project_id: UUID,
    recipient_hash: str,
    sealed_phone: str,
    now: datetime,
) -> UUID:
    """Record consent, or see it again; withdrawn consent is given anew. The id of its row.

    A row whose phone was erased becomes another one: the phone is sealed under the new id.
    """
    statement = insert(OPT_INS).values(
        id=opt_in_id,
        tenant_id=tenant_id,
        project_id=project_id,
        recipient_hash=recipient_hash,
        sealed_phone=sealed_phone,
        first_opt_in_at=now,
        last_seen_at=now,
    )
    seen = statement.on_conflict_do_update(
        index_elements=[OPT_INS.c.project_id, OPT_INS.c.recipient_hash],
        set_={
            "id": case((OPT_INS.c.sealed_phone.is_(None), statement.excluded.id), else_=OPT_INS.c.id),
            "sealed_phone": func.coalesce(OPT_INS.c.sealed_phone, statement.excluded.sealed_phone),
            "last_seen_at": func.greatest(OPT_INS.c.last_seen_at, now),
            "revoked_at": None,
        },
    )
    opt_in: UUID = (await tx.execute(seen.returning(OPT_INS.c.id))).scalar_one()
    return opt_in


async def revoke(tx: Transaction, *, project_id: UUID, recipient_hash: str, now: datetime) -> bool:
    """Withdraw consent; False if there is none."""
    statement = (
        update(OPT_INS)
        .where(OPT_INS.c.project_id == project_id, OPT_INS.c.recipient_hash == recipient_hash)
        .where(OPT_INS.c.revoked_at.is_(None))
        .values(revoked_at=now)
        .returning(OPT_INS.c.id)
    )
    return (await tx.execute(statement)).first() is not None
