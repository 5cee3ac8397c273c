"""The operators' door to any tenant's webhooks and what was delivered to them."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change
from api.webhooks.routes.asking import DeliveryId, WebhookId
from api.webhooks.schemas.deliveries import ReplayBody, WantedDeliveries, deliveries_body, replayed_body
from api.webhooks.schemas.endpoints import audited_body, operated_body
from api.webhooks.usecases.operate_endpoints import OperateEndpoints

TenantId = Annotated[UUID, Query(alias="tenantId")]


def router(guard: Guard, webhooks: OperateEndpoints) -> APIRouter:
    """Routes below /v1/admin/webhooks."""
    routes = APIRouter(tags=["operator: webhooks"])
    _add_reading(routes, webhooks)
    _add_changing(routes, guard, webhooks)
    return routes


def _add_reading(routes: APIRouter, webhooks: OperateEndpoints) -> None:
    @routes.get("/webhooks")
    async def list_webhooks(tenant_id: TenantId) -> dict[str, Any]:
        """A tenant's webhooks, oldest first."""
        return {"items": [operated_body(endpoint) for endpoint in await webhooks.of_tenant(tenant_id)]}

    @routes.get("/webhooks/{webhook_id}")
    async def get_webhook(webhook_id: WebhookId) -> dict[str, Any]:
        """One webhook: whether it is on, or why and since when it is off."""
        return operated_body(await webhooks.find(webhook_id))

    @routes.get("/webhooks/{webhook_id}/deliveries")
    async def list_deliveries(webhook_id: WebhookId, wanted: WantedDeliveries) -> dict[str, Any]:
        """What the webhook was owed, newest first, without what was said."""
        endpoint = await webhooks.find(webhook_id)
        return deliveries_body(await webhooks.deliveries(endpoint, wanted), limit=wanted.limit)


def _add_changing(routes: APIRouter, guard: Guard, webhooks: OperateEndpoints) -> None:
    Replay = Annotated[Change, Depends(guard.may(Action.WEBHOOK_REPLAY))]

    @routes.post("/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", status_code=202)
    async def replay_delivery(webhook_id: WebhookId, delivery_id: DeliveryId, change: Replay) -> dict[str, Any]:
        """Deliver once more, with the same id and body."""
        endpoint = await webhooks.find(webhook_id)
        await change.announce(webhook_id, before=audited_body(endpoint), asked={"delivery": str(delivery_id)})
        return replayed_body(await webhooks.replay(endpoint, delivery_id))

    @routes.post("/webhooks/{webhook_id}/replay", status_code=202)
    async def replay_range(webhook_id: WebhookId, body: ReplayBody, change: Replay) -> dict[str, Any]:
        """Deliver once more what was first owed in a period: the oldest 500 of it; with `nextCursor` the next ones."""
        wanted, endpoint = body.wanted(), await webhooks.find(webhook_id)
        await change.announce(webhook_id, before=audited_body(endpoint), asked=body.asked())
        return replayed_body(await webhooks.replay_range(endpoint, wanted))

    @routes.post("/webhooks/{webhook_id}/enable")
    async def enable_webhook(
        webhook_id: WebhookId, change: Annotated[Change, Depends(guard.may(Action.WEBHOOK_ENABLE))]
    ) -> dict[str, Any]:
        """Switch a webhook on again: its failures are forgotten, and what waited for it goes out."""
        endpoint = await webhooks.find(webhook_id)
        await change.announce(webhook_id, before=audited_body(endpoint), asked={"active": True})
        return operated_body(await webhooks.enable(endpoint))
