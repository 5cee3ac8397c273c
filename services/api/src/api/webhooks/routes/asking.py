"""Who asks about which webhook: the key, the number it may name, and ids that are none."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from fastapi import Depends

from api.access.domain import KeyScope
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.refusals import Refusal, RefusedError
from api.webhooks.domain import Asking
from api.webhooks.schemas.endpoints import NumberId

Ask = Callable[..., Awaitable[Asking]]


def asking_with(authenticate: Authenticate) -> Ask:
    """A dependency of every route of customers."""

    async def asking(x_api_key: ApiKey = None, number_id: NumberId = None) -> Asking:
        caller = await authenticate.caller(x_api_key)
        return Asking(caller=caller, number_id=number_id if caller.scope is KeyScope.TENANT else None)

    return asking


def _webhook_id(webhook_id: str) -> UUID:
    try:
        return UUID(webhook_id)
    except ValueError:
        raise RefusedError(Refusal.WEBHOOK_NOT_FOUND) from None


def _delivery_id(delivery_id: str) -> UUID:
    try:
        return UUID(delivery_id)
    except ValueError:
        raise RefusedError(Refusal.WEBHOOK_DELIVERY_NOT_FOUND) from None


WebhookId = Annotated[UUID, Depends(_webhook_id)]
DeliveryId = Annotated[UUID, Depends(_delivery_id)]
