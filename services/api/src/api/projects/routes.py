"""The public door to projects."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from api.access.domain import Caller
from api.access.schemas import ApiKey
from api.access.usecases import Authenticate
from api.projects.schemas import NewProjectBody, project_body
from api.projects.usecases import ManageProjects


def router(authenticate: Authenticate, projects: ManageProjects) -> APIRouter:
    """Routes below /v1/projects."""
    routes = APIRouter(tags=["projects"])

    async def caller_of(x_api_key: ApiKey = None) -> Caller:
        return await authenticate.caller(x_api_key)

    KnownCaller = Annotated[Caller, Depends(caller_of)]

    @routes.get("/projects")
    async def list_projects(caller: KnownCaller) -> list[dict[str, Any]]:
        """The tenant's projects, oldest first."""
        return [project_body(project) for project in await projects.list(caller)]

    @routes.post("/projects", status_code=201)
    async def create_project(body: NewProjectBody, caller: KnownCaller) -> dict[str, Any]:
        """Open a project; an operator approves it for production."""
        return project_body(await projects.open(caller, name=body.name, description=body.description or ""))

    return routes
