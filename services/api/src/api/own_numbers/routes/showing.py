"""The public door for looking at numbers and pairing them."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.own_numbers import schemas
from api.own_numbers.routes.paths import NumberId, PrimaryOnly
from api.own_numbers.usecases.connect_number import ConnectNumber
from api.own_numbers.usecases.show_numbers import ShowNumbers


def router(authenticate: Authenticate, show: ShowNumbers, connect: ConnectNumber) -> APIRouter:
    """Routes below /v1/numbers that change nothing, and /v1/groups."""
    routes = APIRouter(tags=["numbers"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.get("/numbers")
    async def list_numbers(caller: KnownCaller) -> list[dict[str, Any]]:
        """The numbers the key reaches, oldest first."""
        return [schemas.list_item(number, keys) for number, keys in await show.list(caller)]

    @routes.get("/numbers/{number_id}")
    async def get_number(caller: KnownCaller, number_id: NumberId, refresh: bool = False) -> dict[str, Any]:
        """A number; `refresh=1` asks the gateway for its state."""
        return schemas.detail_body(await show.find(caller, number_id, refresh=refresh))

    @routes.get("/numbers/{number_id}/connect", dependencies=[PrimaryOnly])
    async def connect_number(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """Get what to scan; 409 if the number is connected."""
        return schemas.pairing_body(await connect.connect(caller, number_id))

    @routes.get("/numbers/{number_id}/status", dependencies=[PrimaryOnly])
    async def get_status(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """The connection right now, or as last seen if the gateway is silent."""
        return schemas.status_body(await show.status(caller, number_id))

    @routes.get("/groups", tags=["groups"])
    async def list_groups(caller: KnownCaller) -> list[dict[str, Any]]:
        """The WhatsApp groups of the key's number."""
        return [schemas.group_body(group) for group in await show.groups(caller)]

    return routes
