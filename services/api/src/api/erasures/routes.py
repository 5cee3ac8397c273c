"""The operators' door to forgetting a recipient."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from api.erasures.schemas import EraseBody, erasure_body
from api.erasures.usecases import ReadErasure, RequestErasure
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change


def router(guard: Guard, request: RequestErasure, read: ReadErasure, *, requested: Callable[[], None]) -> APIRouter:
    """Routes below /v1/admin/recipients; `requested` is called after each commit."""
    routes = APIRouter(tags=["operator: recipients"])

    @routes.post("/recipients/erase", status_code=202)
    async def erase_recipient(
        body: EraseBody, change: Annotated[Change, Depends(guard.may(Action.RECIPIENT_ERASE))]
    ) -> dict[str, Any]:
        """Forget a person: number and contents go everywhere, waiting messages are canceled, no consent is left."""
        erasure = await change.creating(
            lambda: request.request(phone=body.phone, tenant_id=body.tenant_id), id_of=lambda made: made.erasure_id
        )
        requested()
        return erasure_body(erasure)

    @routes.get("/recipients/erasures/{erasure_id}")
    async def get_erasure(erasure_id: UUID) -> dict[str, Any]:
        """How far it has come; `messagesWaiting` are those that may still be sent and have to end first."""
        return erasure_body(await read.one(erasure_id))

    return routes
