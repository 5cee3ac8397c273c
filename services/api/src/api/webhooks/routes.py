"""The public door to webhook endpoints."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.webhooks.schemas import EndpointBody, endpoint_body
from api.webhooks.usecases import ManageEndpoints


def router(authenticate: Authenticate, endpoints: ManageEndpoints) -> APIRouter:
    """Routes below /v1/webhooks."""
    routes = APIRouter(tags=["webhooks"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.post("/webhooks", status_code=201)
    async def register_webhook(body: EndpointBody, caller: KnownCaller) -> dict[str, Any]:
        """Register an endpoint; `secret` is shown this once."""
        endpoint, secret = await endpoints.register(caller, name=body.name, url=body.url, events=body.events)
        return {**endpoint_body(endpoint, caller.environment), "secret": secret}

    @routes.get("/webhooks")
    async def list_webhooks(caller: KnownCaller) -> list[dict[str, Any]]:
        """The endpoints of the key's number."""
        return [endpoint_body(endpoint, caller.environment) for endpoint in await endpoints.list(caller)]

    return routes
