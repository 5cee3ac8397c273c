"""Shows a customer the webhook endpoints it has."""

from dataclasses import dataclass

from chassis.database import Database
from contracts.questions import Endpoints, ListEndpoints
from notifier.store import endpoints as store


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWebhooks:
    """Reads only."""

    database: Database

    async def __call__(self, asked: ListEndpoints) -> Endpoints:
        """The tenant's endpoints, or those of one number, without their secrets."""
        async with self.database.transaction() as tx:
            found = await store.endpoints_of(tx, tenant_id=asked.tenant_id, number_id=asked.number_id)
        return Endpoints(endpoints=tuple(found))
