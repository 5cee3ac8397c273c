"""The public door to opt-ins; mounted before the messages, whose last path takes anything.

Only the older route has the phone number in its address, where proxies may log it.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from api.access.domain import Caller, KeyScope
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.optins.schemas import OptInBody, status_body
from api.optins.usecases import ManageOptIns
from api.refusals import Refusal, RefusedError


def router(authenticate: Authenticate, opt_ins: ManageOptIns) -> APIRouter:
    """Routes below /v1/messages/opt-in and /v1/opt-ins, for the project of the key."""
    routes = APIRouter(tags=["opt-ins"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        caller = await authenticate.caller(x_api_key)
        if caller.scope is KeyScope.TENANT:
            raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)
        return caller

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.get("/messages/opt-in")
    async def get_opt_in(
        caller: KnownCaller, destination: Annotated[str, Query(alias="destinationNumber", max_length=100)]
    ) -> dict[str, Any]:
        """Whether a message to this phone number needs consent, and whether there is one."""
        return status_body(await opt_ins.status(destination, caller))

    @routes.post("/opt-ins", status_code=201)
    async def record_opt_in(caller: KnownCaller, body: OptInBody) -> dict[str, Any]:
        """Record that the recipient agreed to get this project's messages from the platform's number."""
        return status_body(await opt_ins.grant(body.destination_number, caller))

    @routes.delete("/opt-ins")
    async def withdraw_opt_in(caller: KnownCaller, body: OptInBody) -> dict[str, Any]:
        """Record that the recipient withdrew."""
        return status_body(await opt_ins.revoke(body.destination_number, caller))

    return routes
