"""The operators' door to numbers."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.administration.routes.paging import AskedPage
from api.administration.usecases.configure_numbers import ConfigureNumber, ReadNumbers
from api.numbers.schemas import PacingBody, RegisterNumberBody, number_body, registered_body
from api.numbers.usecases import FindNumber, RegisterNumber
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import page_body
from api.operators.usecases.record_change import Change


def router(guard: Guard, register: RegisterNumber, read: ReadNumbers, find: FindNumber) -> APIRouter:
    """Routes below /v1/admin/numbers: seeing and registering them."""
    routes = APIRouter(tags=["operator: numbers"])

    @routes.get("/numbers")
    async def list_numbers(
        page: AskedPage, tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None
    ) -> dict[str, Any]:
        """Numbers, newest first."""
        found = await read.page(page, tenant_id=tenant_id)
        return page_body(found, number_body, limit=page.limit, id_of=lambda number: number.number_id)

    @routes.get("/numbers/{number_id}")
    async def get_number(number_id: UUID) -> dict[str, Any]:
        """A number and its connection."""
        return number_body(await find.find(number_id))

    @routes.post("/numbers", status_code=201)
    async def register_number(
        body: RegisterNumberBody, change: Annotated[Change, Depends(guard.may(Action.NUMBER_REGISTER))]
    ) -> dict[str, Any]:
        """Register a number that already exists as an instance at its gateway."""
        wanted = body.registration()
        number = await change.creating(lambda: register.store(wanted), id_of=lambda stored: stored.number_id)
        return registered_body(await register.prepare(number, wanted.access))

    return routes


def configuring_router(guard: Guard, configure: ConfigureNumber) -> APIRouter:
    """Routes below /v1/admin/numbers/{number_id}: how a number is used."""
    routes = APIRouter(tags=["operator: numbers"])

    @routes.put("/numbers/{number_id}/pacing")
    async def pace_number(
        number_id: UUID, body: PacingBody, change: Annotated[Change, Depends(guard.may(Action.NUMBER_PACE))]
    ) -> dict[str, Any]:
        """Change how fast a number may send."""
        return number_body(await change.of(number_id, lambda: configure.pace(number_id, body.policy())))

    @routes.post("/numbers/{number_id}/pause")
    async def pause_number(
        number_id: UUID, change: Annotated[Change, Depends(guard.may(Action.NUMBER_PAUSE))]
    ) -> dict[str, Any]:
        """Stop sending from a number; its messages wait."""
        return number_body(await change.of(number_id, lambda: configure.pause(number_id, paused=True)))

    @routes.post("/numbers/{number_id}/resume")
    async def resume_number(
        number_id: UUID, change: Annotated[Change, Depends(guard.may(Action.NUMBER_RESUME))]
    ) -> dict[str, Any]:
        """Send from a number again."""
        return number_body(await change.of(number_id, lambda: configure.pause(number_id, paused=False)))

    @routes.post("/numbers/{number_id}/default")
    async def make_default(
        number_id: UUID, change: Annotated[Change, Depends(guard.may(Action.NUMBER_MAKE_DEFAULT))]
    ) -> dict[str, Any]:
        """Make a number the platform's default, in place of the former one."""
        return number_body(await change.of(number_id, lambda: configure.make_default(number_id)))

    return routes
