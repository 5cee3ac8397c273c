"""The customers' door to what was delivered to their webhooks, and to having it delivered once more."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.usecases import Authenticate
from api.webhooks.domain import Asking
from api.webhooks.routes.asking import DeliveryId, WebhookId, asking_with
from api.webhooks.schemas.deliveries import ReplayBody, WantedDeliveries, deliveries_body, replayed_body
from api.webhooks.usecases.replay_deliveries import ReplayOwn


def router(authenticate: Authenticate, replay: ReplayOwn) -> APIRouter:
    """Routes below /v1/webhooks/{webhook_id}."""
    routes = APIRouter(tags=["webhooks"])
    Asked = Annotated[Asking, Depends(asking_with(authenticate))]

    @routes.get("/webhooks/{webhook_id}/deliveries")
    async def list_deliveries(asked: Asked, webhook_id: WebhookId, wanted: WantedDeliveries) -> dict[str, Any]:
        """What the webhook was owed, newest first, each with what became of it; its attempts are in the log."""
        return deliveries_body(await replay.list(asked, webhook_id, wanted), limit=wanted.limit)

    @routes.post("/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", status_code=202)
    async def replay_delivery(asked: Asked, webhook_id: WebhookId, delivery_id: DeliveryId) -> dict[str, Any]:
        """Deliver once more: the same id and body, a fresh timestamp, and the whole schedule of retries.

        A delivery that waits for a retry is made at once.
        """
        return replayed_body(await replay.one(asked, webhook_id, delivery_id))

    @routes.post("/webhooks/{webhook_id}/replay", status_code=202)
    async def replay_range(asked: Asked, webhook_id: WebhookId, body: ReplayBody) -> dict[str, Any]:
        """Deliver once more what was first owed in a period: the oldest 500 of it; with `nextCursor` the next ones.

        They go out in order and no faster than the webhook takes them.
        """
        return replayed_body(await replay.range(asked, webhook_id, body.wanted()))

    return routes
