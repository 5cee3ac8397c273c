"""Listing and revoking API keys; `access.usecases.IssueKey` issues them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.administration.domain import ListedKey, Page
from api.administration.store import keys
from api.refusals import Refusal, RefusedError
from chassis.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeKey:
    """Ends a key; it stops working within seconds on every replica."""

    database: Database

    async def revoke(self, key_id: UUID) -> None:
        """Raises `RefusedError(KEY_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            if not await keys.revoke_key(tx, key_id):
                raise RefusedError(Refusal.KEY_NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadKeys:
    """Shows keys without their secrets."""

    database: Database

    async def page(
        self, page: Page, *, tenant_id: UUID | None, project_id: UUID | None, number_id: UUID | None
    ) -> Sequence[ListedKey]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await keys.list_keys(tx, page, tenant_id=tenant_id, project_id=project_id, number_id=number_id)
