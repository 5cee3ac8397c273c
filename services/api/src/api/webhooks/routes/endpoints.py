"""The customers' door to webhook endpoints."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from api.access.usecases import Authenticate
from api.schemas import instant
from api.webhooks.domain import Asking
from api.webhooks.routes.asking import Ask, WebhookId, asking_with
from api.webhooks.schemas.endpoints import EndpointBody, EndpointChangeBody, attempt_body, endpoint_body, trial_body
from api.webhooks.usecases.manage_endpoints import ManageEndpoints


def router(authenticate: Authenticate, endpoints: ManageEndpoints) -> APIRouter:
    """Routes below /v1/webhooks."""
    routes = APIRouter(tags=["webhooks"])
    asking = asking_with(authenticate)
    _add_collection(routes, endpoints, asking)
    _add_one(routes, endpoints, asking)
    _add_insight(routes, endpoints, asking)
    return routes


def _add_collection(routes: APIRouter, endpoints: ManageEndpoints, asking: Ask) -> None:
    Asked = Annotated[Asking, Depends(asking)]

    @routes.get("/webhooks")
    async def list_webhooks(asked: Asked) -> list[dict[str, Any]]:
        """The webhooks of the key's number, or of all numbers for a tenant key; oldest first."""
        return [endpoint_body(endpoint, asked.caller.environment) for endpoint in await endpoints.list(asked)]

    @routes.post("/webhooks", status_code=201)
    async def register_webhook(body: EndpointBody, asked: Asked) -> dict[str, Any]:
        """Register a webhook; `secret` is shown this once."""
        endpoint, secret = await endpoints.register(
            asked.naming(body.whatsapp_number_id), name=body.name, url=body.url, events=body.events
        )
        return {**endpoint_body(endpoint, asked.caller.environment), "secret": secret}


def _add_one(routes: APIRouter, endpoints: ManageEndpoints, asking: Ask) -> None:
    Asked = Annotated[Asking, Depends(asking)]

    @routes.get("/webhooks/{webhook_id}")
    async def get_webhook(asked: Asked, webhook_id: WebhookId) -> dict[str, Any]:
        """One webhook, without its secret."""
        return endpoint_body(await endpoints.find(asked, webhook_id), asked.caller.environment)

    @routes.patch("/webhooks/{webhook_id}")
    async def change_webhook(asked: Asked, webhook_id: WebhookId, body: EndpointChangeBody) -> dict[str, Any]:
        """Change name, URL or events (the whole list), or switch a webhook on or off."""
        changed = await endpoints.change(asked, webhook_id, body.changes())
        return endpoint_body(changed, asked.caller.environment)

    @routes.delete("/webhooks/{webhook_id}")
    async def delete_webhook(asked: Asked, webhook_id: WebhookId) -> dict[str, Any]:
        """Delete a webhook and its log for good."""
        endpoint = await endpoints.delete(asked, webhook_id)
        return {"id": str(endpoint.endpoint_id), "success": True}


def _add_insight(routes: APIRouter, endpoints: ManageEndpoints, asking: Ask) -> None:
    Asked = Annotated[Asking, Depends(asking)]

    @routes.get("/webhooks/{webhook_id}/logs")
    async def list_attempts(
        asked: Asked,
        webhook_id: WebhookId,
        limit: Annotated[int, Query(ge=1, le=50)] = 50,
        event: Annotated[str | None, Query(max_length=100)] = None,
    ) -> list[dict[str, Any]]:
        """The newest attempts at a webhook, with what was sent and what came back."""
        found = await endpoints.log(asked, webhook_id, event=event, limit=limit)
        return [attempt_body(attempt) for attempt in found]

    @routes.post("/webhooks/{webhook_id}/test", status_code=202)
    async def test_webhook(asked: Asked, webhook_id: WebhookId) -> dict[str, Any]:
        """Send a test event, `webhook.test`, as any other is sent; what came of it is in the log.

        It is signed and tried again like the others, needs no selection, and is sent at most once in 5 seconds.
        """
        return trial_body(await endpoints.attempt(asked, webhook_id))

    @routes.post("/webhooks/{webhook_id}/rotate-secret")
    async def rotate_secret(asked: Asked, webhook_id: WebhookId) -> dict[str, Any]:
        """Replace the signing secret, shown this once; for 24 hours deliveries are signed with both."""
        endpoint, secret, until = await endpoints.rotate(asked, webhook_id)
        shown = endpoint_body(endpoint, asked.caller.environment)
        return {**shown, "secret": secret, "previousSecretValidUntil": instant(until)}
