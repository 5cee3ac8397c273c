"""How a key comes in with a request, and bodies of the operator's key routes."""

from typing import Annotated
from uuid import UUID

from fastapi import Header
from pydantic import Field

from api.schemas import Body
from contracts.values import Environment

ApiKey = Annotated[str | None, Header(alias="x-api-key")]


class KeyBody(Body):
    """An API key; without a number it sends from the platform's default."""

    project_id: UUID
    environment: Environment
    name: str = Field(min_length=1, max_length=200)
    number_id: UUID | None = None
