"""Finding out to whom a tenant's TEST keys may send."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from api.profiles import store
from chassis.database import Database
from chassis.ttl_cache import TtlCache

PROFILES_MAX = 1_000
"""Of one tenant; more are not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindProfiles:
    """The recipients of a tenant's profiles; remembered for a few seconds."""

    database: Database
    profiles: TtlCache[UUID, frozenset[str]]

    async def recipients(self, tenant_id: UUID) -> frozenset[str]:
        """Their hashes."""
        return await self.profiles.get_or_load(tenant_id, partial(self._load, tenant_id)) or frozenset()

    async def _load(self, tenant_id: UUID) -> frozenset[str]:
        async with self.database.transaction() as tx:
            return await store.list_recipients(tx, tenant_id, limit=PROFILES_MAX)
