"""The operators' door to messages of all tenants."""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.messages.domain.overdue import Overdue
from api.messages.schemas.operating import operated_body, operated_timeline_body
from api.messages.usecases.explain_message import Explain
from api.messages.usecases.operate_messages import CancelOne, FindAnywhere, of_its_tenant
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import Cursor, PageSize, page_body
from api.operators.usecases.record_change import Change
from chassis.clock import Clock
from contracts.status import Status

OVERDUE_SECONDS_MAX = 31_536_000


def router(find: FindAnywhere, explain: Explain, clock: Clock) -> APIRouter:
    """Routes below /v1/admin/messages that read; `waiting` comes before any reference."""
    routes = APIRouter(tags=["operator: messages"])

    @routes.get("/messages/waiting")
    async def list_overdue(
        cursor: Cursor = None,
        limit: PageSize = 50,
        overdue_seconds: Annotated[int, Query(alias="overdueSeconds", ge=0, le=OVERDUE_SECONDS_MAX)] = 60,
        tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None,
        project_id: Annotated[UUID | None, Query(alias="projectId")] = None,
        number_id: Annotated[UUID | None, Query(alias="numberId")] = None,
    ) -> dict[str, Any]:
        """Messages that have been due for so many seconds and have not left, the longest known first."""
        wanted = Overdue(
            due_before=clock() - timedelta(seconds=overdue_seconds),
            tenant_id=tenant_id,
            project_id=project_id,
            number_id=number_id,
            after=cursor,
        )
        found = await find.overdue(wanted, limit=limit)
        return page_body(found, operated_body, limit=limit, id_of=lambda message: message.message_id)

    @routes.get("/messages/{reference:path}/timeline")
    async def explain_message(reference: str) -> dict[str, Any]:
        """Why the message is where it is, as its customer is told it."""
        message = await find.find(reference)
        explanation = await explain.explain(str(message.message_id), of_its_tenant(message))
        return operated_timeline_body(explanation)

    @routes.get("/messages/{reference:path}")
    async def find_message(reference: str) -> dict[str, Any]:
        """A message of any tenant by its id, its correlation id or the provider's id, without what is personal."""
        return operated_body(await find.find(reference))

    return routes


def canceling_router(guard: Guard, find: FindAnywhere, cancel: CancelOne) -> APIRouter:
    """The route that cancels; `find` is built with the door's database."""
    routes = APIRouter(tags=["operator: messages"])

    @routes.post("/messages/{message_id}/cancel")
    async def cancel_message(
        message_id: UUID, change: Annotated[Change, Depends(guard.may(Action.MESSAGE_CANCEL))]
    ) -> dict[str, Any]:
        """Cancel a message that was certainly not sent. The log has the asking; what came of it is in the timeline."""
        message = await change.of(message_id, lambda: find.cancelable(str(message_id)))
        await cancel.carry_out(message)
        return {"id": str(message_id), "status": Status.CANCELED.value}

    return routes
