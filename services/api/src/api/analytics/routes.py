"""The public door to figures."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.analytics.schemas import DashboardQuery, dashboard_body
from api.analytics.usecases import ShowDashboard


def router(authenticate: Authenticate, dashboard: ShowDashboard) -> APIRouter:
    """Routes below /v1/analytics."""
    routes = APIRouter(tags=["analytics"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    @routes.get("/analytics/dashboard")
    async def get_dashboard(
        caller: Annotated[Caller, Depends(caller_of)], query: Annotated[DashboardQuery, Query()]
    ) -> dict[str, Any]:
        """What became of the messages of the key's number, by local day, compared with the period before."""
        return dashboard_body(await dashboard.show(caller, length=query.period, zone_name=query.zone_name()))

    return routes
