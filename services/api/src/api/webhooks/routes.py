"""The public door to webhook endpoints."""

from typing import Any

from fastapi import APIRouter

from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.webhooks.schemas import EndpointBody, endpoint_body
from api.webhooks.usecases import ManageEndpoints


def router(authenticate: Authenticate, endpoints: ManageEndpoints) -> APIRouter:
    """Routes below /v1/webhooks."""
    routes = APIRouter(tags=["webhooks"])

    @routes.post("/webhooks", status_code=201)
    async def register_webhook(body: EndpointBody, x_api_key: ApiKey = None) -> dict[str, Any]:
        """Register an endpoint; `secret` is shown this once."""
        caller = await authenticate.caller(x_api_key)
        endpoint, secret = await endpoints.register(caller, name=body.name, url=body.url, events=body.events)
        return {**endpoint_body(endpoint, caller.environment), "secret": secret}

    @routes.get("/webhooks")
    async def list_webhooks(x_api_key: ApiKey = None) -> list[dict[str, Any]]:
        """The endpoints of the key's number."""
        caller = await authenticate.caller(x_api_key)
        return [endpoint_body(endpoint, caller.environment) for endpoint in await endpoints.list(caller)]

    return routes
