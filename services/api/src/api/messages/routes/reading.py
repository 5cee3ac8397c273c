"""The public door for reading one message back; it takes any path below /messages, so it is mounted last."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.usecases import Authenticate
from api.messages.domain.scope import Scope
from api.messages.routes.confined import caller_by, scope_by
from api.messages.schemas.reading import details_body, timeline_body
from api.messages.usecases.confine import Confine
from api.messages.usecases.explain_message import Explain
from api.messages.usecases.read_message import ReadMessage


def router(authenticate: Authenticate, confine: Confine, read: ReadMessage, explain: Explain) -> APIRouter:
    """Routes below /v1/messages that read."""
    routes = APIRouter(tags=["messages"])
    confined = scope_by(caller_by(authenticate), confine)

    @routes.get("/messages/{reference:path}/timeline")
    async def get_timeline(reference: str, scope: Annotated[Scope, Depends(confined)]) -> dict[str, Any]:
        """Why the message is where it is: what has happened, step by step, and what it waits for now."""
        return timeline_body(await explain.explain(reference, scope))

    @routes.get("/messages/{reference:path}")
    async def get_message(reference: str, scope: Annotated[Scope, Depends(confined)]) -> dict[str, Any]:
        """A message by its id, its correlation id or the provider's id."""
        return details_body(await read.read(reference, scope))

    return routes
