"""The public door for canceling messages."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.messages.domain.scope import Scope
from api.messages.schemas.canceling import CancelBody, canceled_body
from api.messages.usecases.cancel_messages import CancelByReference
from api.messages.usecases.confine import Confine


def router(authenticate: Authenticate, confine: Confine, cancel: CancelByReference) -> APIRouter:
    """Routes below /v1/messages that cancel."""
    routes = APIRouter(tags=["messages"])

    async def scope_of(x_api_key: ApiKey = None) -> Scope:
        return confine.acting(await authenticate.caller(x_api_key))

    @routes.delete("/messages/cancel")
    async def cancel_messages(body: CancelBody, scope: Annotated[Scope, Depends(scope_of)]) -> dict[str, Any]:
        """Cancel messages that were not sent; what is reported as cancelled will never be sent."""
        return canceled_body(await cancel.cancel(body.message_ids, scope))

    return routes
