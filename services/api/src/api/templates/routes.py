"""The operator's door to templates."""

from typing import Any

from fastapi import APIRouter

from api.templates.domain import variables_of
from api.templates.schemas import TemplateBody
from api.templates.usecases import CreateTemplate


def router(create: CreateTemplate) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: templates"])

    @routes.post("/templates", status_code=201)
    async def create_template(body: TemplateBody) -> dict[str, Any]:
        """Create a template with an approved first version."""
        template_id = await create.create(
            project_id=body.project_id,
            name=body.name,
            category=body.category,
            body=body.body,
            production_approved=body.production_approved,
        )
        return {
            "id": str(template_id),
            "name": body.name,
            "category": body.category.value,
            "variables": list(variables_of(body.body)),
        }

    return routes
