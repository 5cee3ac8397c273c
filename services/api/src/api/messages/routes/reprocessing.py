"""The operators' door to messages that failed."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from api.messages.usecases.reprocess_message import ReprocessMessage
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.usecases.record_change import Change
from api.schemas import instant
from contracts.status import Status


def router(guard: Guard, reprocess: ReprocessMessage) -> APIRouter:
    """Routes below /v1/admin/messages."""
    routes = APIRouter(tags=["operator: messages"])

    @routes.post("/messages/{message_id}/reprocess", status_code=202)
    async def reprocess_message(
        message_id: UUID, change: Annotated[Change, Depends(guard.may(Action.MESSAGE_REPROCESS))]
    ) -> dict[str, Any]:
        """Send a message that failed again, in a new round; what is still heard of earlier rounds is history."""
        accepted = await change.of(message_id, lambda: reprocess.reprocess(message_id))
        return {
            "id": str(message_id),
            "status": Status.QUEUED.value,
            "round": accepted.ref.round,
            "deliverUntil": instant(accepted.deliver_until),
            "duplicatePossible": accepted.duplicate_possible,
        }

    return routes
