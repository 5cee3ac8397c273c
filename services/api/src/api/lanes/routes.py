"""The operator's door to lanes."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.lanes.schemas import lane_body
from api.lanes.usecases import DescribeNumber


def router(lanes: DescribeNumber) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: numbers"])

    @routes.get("/numbers/{number_id}/lane")
    async def describe_lane(number_id: UUID) -> dict[str, Any]:
        """What waits on a number, whether it can send, and when its next slots are."""
        return lane_body(await lanes.describe(number_id))

    return routes
