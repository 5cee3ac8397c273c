"""The operator's door to tenants and projects."""

from fastapi import APIRouter

from api.accounts.schemas import ProjectBody, TenantBody
from api.accounts.usecases import OpenAccount


def router(accounts: OpenAccount) -> APIRouter:
    """Routes below /v1/admin."""
    routes = APIRouter(tags=["operator: accounts"])

    @routes.post("/tenants", status_code=201)
    async def create_tenant(body: TenantBody) -> dict[str, str]:
        """Create a tenant."""
        return {"id": str(await accounts.tenant(body.name)), "name": body.name}

    @routes.post("/projects", status_code=201)
    async def create_project(body: ProjectBody) -> dict[str, str]:
        """Create a project of a tenant."""
        project_id = await accounts.project(
            tenant_id=body.tenant_id, name=body.name, production_approved=body.production_approved
        )
        return {"id": str(project_id), "name": body.name}

    return routes
