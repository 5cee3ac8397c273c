"""The public door for creating, changing, deleting and restoring numbers."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.own_numbers import schemas
from api.own_numbers.domain import tenant_only
from api.own_numbers.routes.paths import NumberId
from api.own_numbers.usecases.change_number import ChangeNumber
from api.own_numbers.usecases.create_number import CreateNumber
from api.own_numbers.usecases.remove_number import RemoveNumber
from api.own_numbers.usecases.show_numbers import ShowNumbers
from api.schemas import instant


def router(
    authenticate: Authenticate, create: CreateNumber, change: ChangeNumber, remove: RemoveNumber, show: ShowNumbers
) -> APIRouter:
    """Routes below /v1/numbers that change something."""
    routes = APIRouter(tags=["numbers"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.post("/numbers", status_code=201)
    async def create_number(body: schemas.NewNumberBody, caller: KnownCaller) -> dict[str, Any]:
        """Create a number at the gateway and get what to scan."""
        return schemas.created_body(await create.create(caller, body.new_number()))

    @routes.patch("/numbers/{number_id}")
    async def update_number(caller: KnownCaller, number_id: NumberId, body: schemas.ChangeBody) -> dict[str, Any]:
        """Change settings and how long the content of messages is kept."""
        return schemas.detail_body(await change.change(caller, number_id, body.change()))

    @routes.delete("/numbers/{number_id}")
    async def delete_number(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """Log the device out and stop sending; the number can be restored for 30 days."""
        return {"ok": True, "restorableUntil": instant(await remove.delete(caller, number_id))}

    @routes.post("/numbers/{number_id}/restore")
    async def restore_number(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """Take a deletion back; the device must be paired again."""
        await remove.restore(caller, number_id)
        return {"ok": True, "requiresReconnect": True}

    @routes.delete("/numbers/{number_id}/purge")
    async def purge_number(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """Remove a number for good, with its keys and the content of its messages."""
        await remove.purge(caller, number_id)
        return {"ok": True}

    @routes.post("/numbers/{number_id}/pay")
    async def pay_number(caller: KnownCaller, number_id: NumberId) -> dict[str, Any]:
        """Numbers cost nothing extra here, so there is never anything to pay."""
        tenant_only(caller)
        await show.find(caller, number_id)
        return {"ok": True, "status": "not_required"}

    return routes
