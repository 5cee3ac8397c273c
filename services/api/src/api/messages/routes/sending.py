"""The public door for sending messages."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Response

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.messages.domain.acceptance import check_scope
from api.messages.schemas.batch import BatchBody, results_body
from api.messages.schemas.sending import SendBody, accepted_body
from api.messages.usecases.accept_batch import AcceptBatch
from api.messages.usecases.accept_message import AcceptMessage

IdempotencyKey = Annotated[str | None, Header(alias="idempotency-key", description="1 to 255 characters, kept 24 h")]


def router(authenticate: Authenticate, accept: AcceptMessage) -> APIRouter:
    """Routes below /v1/messages that send."""
    routes = APIRouter(tags=["messages"])
    batch = AcceptBatch(accept=accept)

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        caller = await authenticate.caller(x_api_key)
        check_scope(caller)
        return caller

    KnownCaller = Annotated[Caller, Depends(caller_of)]  # a dependency is asked before the body is judged

    @routes.post("/messages/send", status_code=202)
    async def send_message(
        body: SendBody, caller: KnownCaller, response: Response, key: IdempotencyKey = None
    ) -> dict[str, Any]:
        """Accept a message: once this answers 202, it will reach a final status."""
        receipt = await accept.accept(body.request(), caller, key=key)
        if receipt.replayed:
            response.headers["idempotent-replayed"] = "true"
        return accepted_body(receipt)

    @routes.post("/messages/batch")
    async def send_batch(body: BatchBody, caller: KnownCaller) -> dict[str, Any]:
        """Accept up to 500 messages, each for itself; the answer has one result per message, in their order."""
        return results_body(await batch.accept_all(body.items(), caller))

    return routes
