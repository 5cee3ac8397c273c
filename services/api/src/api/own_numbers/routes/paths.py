"""What addresses of numbers have in common."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query

from api.refusals import Refusal, RefusedError


def _number_id(number_id: str) -> UUID:
    """What cannot be the id of a number is no number either."""
    try:
        return UUID(number_id)
    except ValueError:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND) from None


def _primary_only(
    link: Annotated[
        Literal["primary", "secondary"], Query(description="A second device is not supported.")
    ] = "primary",
) -> None:
    if link != "primary":
        raise RefusedError(Refusal.NOT_IMPLEMENTED, "A second device per number is not supported.", field="link")


NumberId = Annotated[UUID, Depends(_number_id)]
PrimaryOnly = Depends(_primary_only)
