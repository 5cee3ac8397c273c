"""The operator's door to numbers."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.numbers.schemas import RegisterNumberBody, number_body, registered_body
from api.numbers.usecases import FindNumber, RegisterNumber


def router(register: RegisterNumber, find: FindNumber) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: numbers"])

    @routes.post("/numbers", status_code=201)
    async def register_number(body: RegisterNumberBody) -> dict[str, Any]:
        """Register a number that already exists as an instance at its gateway."""
        return registered_body(await register.register(body.registration()))

    @routes.get("/numbers/{number_id}")
    async def get_number(number_id: UUID) -> dict[str, Any]:
        """A number and its connection."""
        return number_body(await find.find(number_id))

    return routes
