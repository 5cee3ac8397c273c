"""The operators' door to plans and packages."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.administration.routes.paging import AskedPage
from api.administration.schemas.limits import PackageBody, PlanBody, PlanChangeBody, package_body, plan_body
from api.administration.usecases.manage_limits import ManageLimits, ReadLimits
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import page_body
from api.operators.usecases.record_change import Change


def plan_router(guard: Guard, manage: ManageLimits, read: ReadLimits) -> APIRouter:
    """Routes below /v1/admin/plans."""
    routes = APIRouter(tags=["operator: plans"])

    @routes.get("/plans")
    async def list_plans(page: AskedPage) -> dict[str, Any]:
        """Plans, newest first."""
        return page_body(await read.plans(page), plan_body, limit=page.limit, id_of=lambda plan: plan.plan_id)

    @routes.get("/plans/{plan_id}")
    async def get_plan(plan_id: UUID) -> dict[str, Any]:
        """One plan."""
        return plan_body(await read.plan(plan_id))

    @routes.post("/plans", status_code=201)
    async def create_plan(
        body: PlanBody, change: Annotated[Change, Depends(guard.may(Action.PLAN_CREATE))]
    ) -> dict[str, Any]:
        """Create a plan."""
        created = await change.creating(lambda: manage.create_plan(body.model_dump()), id_of=lambda plan: plan.plan_id)
        return plan_body(created)

    @routes.patch("/plans/{plan_id}")
    async def change_plan(
        plan_id: UUID, body: PlanChangeBody, change: Annotated[Change, Depends(guard.may(Action.PLAN_CHANGE))]
    ) -> dict[str, Any]:
        """Change what tenants of a plan may send."""
        return plan_body(await change.of(plan_id, lambda: manage.change_plan(plan_id, body.changes())))

    @routes.delete("/plans/{plan_id}")
    async def delete_plan(
        plan_id: UUID, change: Annotated[Change, Depends(guard.may(Action.PLAN_DELETE))]
    ) -> dict[str, str]:
        """Delete a plan that no tenant has."""
        await change.of(plan_id, lambda: manage.delete_plan(plan_id))
        return {"id": str(plan_id)}

    return routes


def package_router(guard: Guard, manage: ManageLimits, read: ReadLimits) -> APIRouter:
    """Routes below /v1/admin/packages."""
    routes = APIRouter(tags=["operator: packages"])

    @routes.get("/packages")
    async def list_packages(
        page: AskedPage, tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None
    ) -> dict[str, Any]:
        """Packages, newest first."""
        found = await read.packages(page, tenant_id=tenant_id)
        return page_body(found, package_body, limit=page.limit, id_of=lambda package: package.package_id)

    @routes.get("/packages/{package_id}")
    async def get_package(package_id: UUID) -> dict[str, Any]:
        """One package."""
        return package_body(await read.package(package_id))

    @routes.post("/packages", status_code=201)
    async def create_package(
        body: PackageBody, change: Annotated[Change, Depends(guard.may(Action.PACKAGE_CREATE))]
    ) -> dict[str, Any]:
        """Give a tenant messages on top of its plan."""
        created = await change.creating(
            lambda: manage.create_package(body.model_dump()), id_of=lambda package: package.package_id
        )
        return package_body(created)

    @routes.delete("/packages/{package_id}")
    async def delete_package(
        package_id: UUID, change: Annotated[Change, Depends(guard.may(Action.PACKAGE_DELETE))]
    ) -> dict[str, str]:
        """Take a package back."""
        await change.of(package_id, lambda: manage.delete_package(package_id))
        return {"id": str(package_id)}

    return routes
