"""Dependencies of routes that read: who calls, and which messages they may see."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Header

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.messages.domain.scope import Scope
from api.messages.usecases.confine import Confine

NumberName = Annotated[
    str | None,
    Header(alias="x-whatsapp-number-id", max_length=100, description="With a tenant key: which of its numbers"),
]
CallerBy = Callable[..., Awaitable[Caller]]
ScopeBy = Callable[..., Awaitable[Scope]]


def caller_by(authenticate: Authenticate) -> CallerBy:
    """The holder of the key; asked once per request, however many dependencies need it."""

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    return caller_of


def scope_by(caller_of: CallerBy, confine: Confine) -> ScopeBy:
    """What the caller may read."""

    async def scope_of(caller: Annotated[Caller, Depends(caller_of)], number_id: NumberName = None) -> Scope:
        return await confine.reading(caller, number_id)

    return scope_of
