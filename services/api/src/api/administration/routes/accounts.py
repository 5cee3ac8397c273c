"""The operators' door to tenants and projects."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.accounts.usecases import OpenAccount
from api.administration.routes.paging import AskedPage
from api.administration.schemas.accounts import (
    ProjectBody,
    ProjectChangeBody,
    TenantBody,
    TenantChangeBody,
    project_body,
    tenant_body,
)
from api.administration.usecases.manage_accounts import ManageAccounts, ReadAccounts
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import page_body
from api.operators.usecases.record_change import Change


def tenant_router(guard: Guard, manage: ManageAccounts, read: ReadAccounts) -> APIRouter:
    """Routes below /v1/admin/tenants."""
    routes = APIRouter(tags=["operator: tenants"])

    @routes.get("/tenants")
    async def list_tenants(
        page: AskedPage, plan_id: Annotated[UUID | None, Query(alias="planId")] = None
    ) -> dict[str, Any]:
        """Tenants, newest first."""
        found = await read.tenants(page, plan_id=plan_id)
        return page_body(found, tenant_body, limit=page.limit, id_of=lambda tenant: tenant.tenant_id)

    @routes.get("/tenants/{tenant_id}")
    async def get_tenant(tenant_id: UUID) -> dict[str, Any]:
        """One tenant."""
        return tenant_body(await read.tenant(tenant_id))

    @routes.post("/tenants", status_code=201)
    async def create_tenant(
        body: TenantBody, change: Annotated[Change, Depends(guard.may(Action.TENANT_CREATE))]
    ) -> dict[str, Any]:
        """Create a tenant."""
        created = await change.creating(
            lambda: manage.create_tenant(body.model_dump()), id_of=lambda tenant: tenant.tenant_id
        )
        return tenant_body(created)

    @routes.patch("/tenants/{tenant_id}")
    async def change_tenant(
        tenant_id: UUID, body: TenantChangeBody, change: Annotated[Change, Depends(guard.may(Action.TENANT_CHANGE))]
    ) -> dict[str, Any]:
        """Change a tenant: its name, weight, plan, time zone or default country."""
        return tenant_body(await change.of(tenant_id, lambda: manage.change_tenant(tenant_id, body.changes())))

    return routes


def project_router(guard: Guard, opening: OpenAccount, manage: ManageAccounts, read: ReadAccounts) -> APIRouter:
    """Routes below /v1/admin/projects."""
    routes = APIRouter(tags=["operator: projects"])

    @routes.get("/projects")
    async def list_projects(
        page: AskedPage, tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None
    ) -> dict[str, Any]:
        """Projects, newest first."""
        found = await read.projects(page, tenant_id=tenant_id)
        return page_body(found, project_body, limit=page.limit, id_of=lambda project: project.project_id)

    @routes.get("/projects/{project_id}")
    async def get_project(project_id: UUID) -> dict[str, Any]:
        """One project."""
        return project_body(await read.project(project_id))

    @routes.post("/projects", status_code=201)
    async def create_project(
        body: ProjectBody, change: Annotated[Change, Depends(guard.may(Action.PROJECT_CREATE))]
    ) -> dict[str, Any]:
        """Create a project of a tenant."""
        project_id = await change.creating(
            lambda: opening.project(
                tenant_id=body.tenant_id, name=body.name, production_approved=body.production_approved
            ),
            id_of=lambda created: created,
        )
        return project_body(await read.project(project_id))

    @routes.patch("/projects/{project_id}")
    async def change_project(
        project_id: UUID, body: ProjectChangeBody, change: Annotated[Change, Depends(guard.may(Action.PROJECT_CHANGE))]
    ) -> dict[str, Any]:
        """Approve a project for production, take the approval back, or rename it."""
        return project_body(await change.of(project_id, lambda: manage.change_project(project_id, body.changes())))

    return routes
