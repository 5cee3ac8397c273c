"""The public door for reading templates."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.templates.schemas import template_body
from api.templates.usecases.write_templates import WriteTemplates

Reference = Annotated[str, Path(max_length=200, description="The template's id or its name.")]


def router(authenticate: Authenticate, templates: WriteTemplates) -> APIRouter:
    """Routes below /v1/templates that change nothing."""
    routes = APIRouter(tags=["templates"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.get("/templates")
    async def list_templates(caller: KnownCaller) -> list[dict[str, Any]]:
        """The project's templates, oldest first."""
        return [template_body(template, caller.environment) for template in await templates.list(caller)]

    @routes.get("/templates/{reference}")
    async def get_template(reference: Reference, caller: KnownCaller) -> dict[str, Any]:
        """A template by its id or name."""
        return template_body(await templates.get(caller, reference), caller.environment)

    return routes
