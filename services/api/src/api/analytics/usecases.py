"""Showing a number's figures."""

from dataclasses import dataclass

from api.access.domain import Caller, KeyScope
from api.analytics import store
from api.analytics.domain import Dashboard, Length, dashboard, window, zone_of
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDashboard:
    """The number of the key, or the default one, within the key's project."""

    database: Database
    clock: Clock

    async def show(self, caller: Caller, *, length: Length, zone_name: str) -> Dashboard:
        """One grouped query; raises `RefusedError(TENANT_SCOPE_NOT_ALLOWED)` for a tenant key."""
        if caller.scope is KeyScope.TENANT:
            raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)
        if caller.number is None:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        days = window(length, zone=zone_of(zone_name), now=self.clock())
        async with self.database.transaction() as tx:
            counts = await store.count_by_day(
                tx, project_id=caller.project_id, number_id=caller.number.number_id, midnights=days.midnights
            )
        return dashboard(days, counts)
