"""Bodies of the operator's account routes."""

from uuid import UUID

from pydantic import Field

from api.schemas import Body


class TenantBody(Body):
    """A customer of the platform."""

    name: str = Field(min_length=1, max_length=200)


class ProjectBody(Body):
    """A project; its LIVE keys send only once it is approved for production."""

    tenant_id: UUID
    name: str = Field(min_length=1, max_length=200)
    production_approved: bool = False
