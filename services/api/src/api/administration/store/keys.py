"""Statements on API keys, as operators see them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select, update

from api.access.tables import API_KEY_USES, API_KEYS
from api.accounts.tables import PROJECTS
from api.administration.domain import ListedKey, Page
from api.administration.store.paging import paged
from chassis.database import Transaction


async def list_keys(
    tx: Transaction, page: Page, *, tenant_id: UUID | None, project_id: UUID | None, number_id: UUID | None
) -> Sequence[ListedKey]:
    """Newest first, revoked ones included."""
    keys = API_KEYS.c
    joined = API_KEYS.join(PROJECTS, PROJECTS.c.id == keys.project_id)
    joined = joined.outerjoin(API_KEY_USES, API_KEY_USES.c.key_id == keys.id)
    query = select(*keys, PROJECTS.c.tenant_id, API_KEY_USES.c.last_used_at).select_from(joined)
    wanted = {PROJECTS.c.tenant_id: tenant_id, keys.project_id: project_id, keys.number_id: number_id}
    return [
        ListedKey(
            key_id=row.id,
            name=row.name,
            tenant_id=row.tenant_id,
            project_id=row.project_id,
            environment=row.environment,
            scope=row.scope,
            number_id=row.number_id,
            created_at=row.created_at,
            revoked_at=row.revoked_at,
            last_used_at=row.last_used_at,
        )
        for row in await tx.execute(paged(query, keys.id, page, wanted=wanted))
    ]


async def revoke_key(tx: Transaction, key_id: UUID) -> bool:
    """False if there is no such key. Once revoked it stays so since then."""
    since = func.coalesce(API_KEYS.c.revoked_at, func.clock_timestamp())
    statement = update(API_KEYS).where(API_KEYS.c.id == key_id).values(revoked_at=since)
    return (await tx.execute(statement)).rowcount == 1
