"""Bodies of the operator's template routes."""

from uuid import UUID

from pydantic import Field

from api.schemas import Body
from contracts.values import Category


class TemplateBody(Body):
    """A template and the text of its first version, which is approved at once."""

    project_id: UUID
    name: str = Field(pattern=r"^[A-Za-z0-9_]{1,100}$")
    category: Category
    body: str = Field(min_length=1, max_length=4_096)
    production_approved: bool = False
