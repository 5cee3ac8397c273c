"""Bodies of the project routes."""

from typing import Any

from pydantic import Field

from api.accounts.domain import Project
from api.schemas import Body, PlainLine, PlainLines, instant


class NewProjectBody(Body):
    """A project of the tenant."""

    name: PlainLine = Field(min_length=1, max_length=100)
    description: PlainLines | None = Field(default=None, max_length=1_000)


def project_body(project: Project) -> dict[str, Any]:
    """A project as the published contract shows it."""
    return {
        "id": str(project.project_id),
        "name": project.name,
        "slug": project.slug,
        "description": project.description,
        "createdAt": instant(project.created_at),
        "productionApproved": project.production_approved,
    }
