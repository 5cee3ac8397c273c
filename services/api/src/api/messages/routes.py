"""The public door to messages."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.messages.schemas import SendBody, accepted_body, details_body, timeline_body
from api.messages.usecases.accept_message import AcceptMessage
from api.messages.usecases.read_message import ReadMessage


def router(authenticate: Authenticate, accept: AcceptMessage, read: ReadMessage) -> APIRouter:
    """Routes below /v1/messages."""
    routes = APIRouter(tags=["messages"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]  # a dependency is asked before the body is judged

    @routes.post("/messages/send", status_code=202)
    async def send_message(body: SendBody, caller: KnownCaller) -> dict[str, Any]:
        """Accept a message: once this answers 202, it will reach a final status."""
        return accepted_body(await accept.accept(body.request(), caller))

    @routes.get("/messages/{reference:path}/timeline")
    async def get_timeline(reference: str, caller: KnownCaller) -> dict[str, Any]:
        """What has happened to a message, step by step."""
        return timeline_body(*await read.steps(reference, caller))

    @routes.get("/messages/{reference:path}")
    async def get_message(reference: str, caller: KnownCaller) -> dict[str, Any]:
        """A message by its id, its correlation id or the provider's id."""
        return details_body(*await read.read(reference, caller))

    return routes
