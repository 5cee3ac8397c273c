"""The operators' door to profiles and opt-ins."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.administration.routes.paging import AskedPage
from api.administration.schemas.people import OptInBody, ProfileBody, ProfileNameBody, opt_in_body, profile_body
from api.administration.usecases.manage_opt_ins import ManageOptIns, ReadOptIns
from api.administration.usecases.manage_profiles import ManageProfiles, ReadProfiles
from api.operators.domain import Action, Operator
from api.operators.routes.guard import Guard
from api.operators.schemas import page_body
from api.operators.usecases.record_change import Change

TenantId = Annotated[UUID | None, Query(alias="tenantId")]
ProjectId = Annotated[UUID | None, Query(alias="projectId")]


def profile_router(guard: Guard, manage: ManageProfiles, read: ReadProfiles) -> APIRouter:
    """Routes below /v1/admin/profiles."""
    routes = APIRouter(tags=["operator: profiles"])
    Reader = Annotated[Operator, Depends(guard.someone)]

    @routes.get("/profiles")
    async def list_profiles(page: AskedPage, reader: Reader, tenant_id: TenantId = None) -> dict[str, Any]:
        """Profiles, newest first."""
        found = await read.page(page, tenant_id=tenant_id)
        return page_body(
            found, lambda profile: profile_body(profile, reader), limit=page.limit, id_of=lambda item: item.profile_id
        )

    @routes.get("/profiles/{profile_id}")
    async def get_profile(profile_id: UUID, reader: Reader) -> dict[str, Any]:
        """One profile; a viewer sees only the end of its phone."""
        return profile_body(await read.one(profile_id), reader)

    @routes.post("/profiles", status_code=201)
    async def create_profile(
        body: ProfileBody, change: Annotated[Change, Depends(guard.may(Action.PROFILE_CREATE))]
    ) -> dict[str, Any]:
        """Let a tenant's TEST keys send to a phone number."""
        created = await change.creating(
            lambda: manage.create(tenant_id=body.tenant_id, name=body.name, phone=body.phone),
            id_of=lambda profile: profile.profile_id,
        )
        return profile_body(created, change.operator)

    @routes.patch("/profiles/{profile_id}")
    async def rename_profile(
        profile_id: UUID, body: ProfileNameBody, change: Annotated[Change, Depends(guard.may(Action.PROFILE_CHANGE))]
    ) -> dict[str, Any]:
        """Rename a profile."""
        renamed = await change.of(profile_id, lambda: manage.rename(profile_id, body.name))
        return profile_body(renamed, change.operator)

    @routes.delete("/profiles/{profile_id}")
    async def delete_profile(
        profile_id: UUID, change: Annotated[Change, Depends(guard.may(Action.PROFILE_DELETE))]
    ) -> dict[str, str]:
        """TEST keys may not send to this phone number any more."""
        await change.of(profile_id, lambda: manage.delete(profile_id))
        return {"id": str(profile_id)}

    return routes


def opt_in_router(guard: Guard, manage: ManageOptIns, read: ReadOptIns) -> APIRouter:
    """Routes below /v1/admin/opt-ins."""
    routes = APIRouter(tags=["operator: opt-ins"])
    Reader = Annotated[Operator, Depends(guard.someone)]

    @routes.get("/opt-ins")
    async def list_opt_ins(
        page: AskedPage, reader: Reader, tenant_id: TenantId = None, project_id: ProjectId = None
    ) -> dict[str, Any]:
        """Opt-ins, newest first, revoked ones included."""
        found = await read.page(page, tenant_id=tenant_id, project_id=project_id)
        return page_body(
            found, lambda opt_in: opt_in_body(opt_in, reader), limit=page.limit, id_of=lambda item: item.opt_in_id
        )

    @routes.get("/opt-ins/{opt_in_id}")
    async def get_opt_in(opt_in_id: UUID, reader: Reader) -> dict[str, Any]:
        """One opt-in; a viewer sees only the end of its phone."""
        return opt_in_body(await read.one(opt_in_id), reader)

    @routes.post("/opt-ins", status_code=201)
    async def grant_opt_in(
        body: OptInBody, change: Annotated[Change, Depends(guard.may(Action.OPT_IN_GRANT))]
    ) -> dict[str, Any]:
        """Record a recipient's consent; a revoked one counts again."""
        granted = await change.creating(
            lambda: manage.grant(project_id=body.project_id, destination=body.phone),
            id_of=lambda opt_in: opt_in.opt_in_id,
        )
        return opt_in_body(granted, change.operator)

    @routes.delete("/opt-ins/{opt_in_id}")
    async def revoke_opt_in(
        opt_in_id: UUID, change: Annotated[Change, Depends(guard.may(Action.OPT_IN_REVOKE))]
    ) -> dict[str, Any]:
        """Record that a recipient took the consent back."""
        revoked = await change.of(opt_in_id, lambda: manage.revoke(opt_in_id))
        return opt_in_body(revoked, change.operator)

    return routes
