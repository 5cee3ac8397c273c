"""The operators' door to a number's connection as its gateway sees it."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.numbers.usecases import FindNumber
from api.own_numbers.schemas import status_body
from api.own_numbers.usecases.show_numbers import ShowNumbers


def router(find: FindNumber, show: ShowNumbers) -> APIRouter:
    """A route below /v1/admin/numbers."""
    routes = APIRouter(tags=["operator: numbers"])

    @routes.get("/numbers/{number_id}/status")
    async def probe_number(number_id: UUID) -> dict[str, Any]:
        """Ask the gateway for the connection right now; as last seen if the gateway is silent. It opens no lane."""
        return status_body(await show.probe(await find.find(number_id)))

    return routes
