"""The public door for writing templates."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.templates.routes.reading import Reference
from api.templates.schemas import NewTemplateBody, VersionBody, template_body
from api.templates.usecases.write_templates import WriteTemplates


def router(authenticate: Authenticate, templates: WriteTemplates) -> APIRouter:
    """Routes below /v1/templates that change something."""
    routes = APIRouter(tags=["templates"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.post("/templates", status_code=201)
    async def create_template(body: NewTemplateBody, caller: KnownCaller) -> dict[str, Any]:
        """Create a template with a first draft; submit it when it is ready."""
        created = await templates.create(
            caller,
            name=body.name,
            category=body.category,
            language=body.language,
            environment=body.environment,
            draft=body.draft(),
        )
        return template_body(created, caller.environment)

    @routes.put("/templates/{reference}")
    async def update_template(reference: Reference, body: VersionBody, caller: KnownCaller) -> dict[str, Any]:
        """Write another text: over a draft, or as a new version beside an approved one, which stays in use."""
        written = await templates.write(caller, reference, draft=body.draft(), category=body.category)
        return template_body(written, caller.environment)

    @routes.delete("/templates/{reference}")
    async def delete_template(reference: Reference, caller: KnownCaller) -> dict[str, Any]:
        """Delete a template with all its versions."""
        await templates.delete(caller, reference)
        return {"ok": True}

    @routes.post("/templates/{reference}/versions", status_code=201)
    async def create_version(reference: Reference, body: VersionBody, caller: KnownCaller) -> dict[str, Any]:
        """Begin a new version."""
        written = await templates.write(caller, reference, draft=body.draft(), category=body.category, fresh=True)
        return template_body(written, caller.environment)

    @routes.post("/templates/{reference}/submit")
    async def submit_template(reference: Reference, caller: KnownCaller) -> dict[str, Any]:
        """Ask for the newest version to be approved."""
        return template_body(await templates.submit(caller, reference), caller.environment)

    return routes
