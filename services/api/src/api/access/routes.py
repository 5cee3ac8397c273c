"""The public door to API keys."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller, KeyScope
from api.access.schemas import ApiKey, RotateBody, masked_body, regenerated_body, reveal_body, rotated_body
from api.access.usecases import Authenticate, ManageOwnKeys


def router(authenticate: Authenticate, keys: ManageOwnKeys) -> APIRouter:
    """Routes below /v1/api-keys."""
    routes = APIRouter(tags=["api keys"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.get("/api-keys")
    async def list_keys(caller: KnownCaller) -> list[dict[str, Any]]:
        """With a tenant key the default key of each number, with any other key that key itself; never a whole key."""
        if caller.scope is KeyScope.TENANT:
            return [reveal_body(number, key) for number, key in await keys.of_numbers(caller)]
        return [masked_body(await keys.own(caller), caller)]

    @routes.post("/api-keys", status_code=201)
    async def rotate_key(body: RotateBody, caller: KnownCaller) -> dict[str, Any]:
        """Replace a number's default key; the old one stops working at once, the new one is shown this once."""
        return rotated_body(await keys.rotate(caller, body.number_id()))

    @routes.post("/api-keys/regenerate", status_code=201)
    async def regenerate_key(caller: KnownCaller) -> dict[str, Any]:
        """Replace the calling key itself."""
        return regenerated_body(await keys.regenerate(caller))

    return routes
