"""The operators' door to API keys."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.access.schemas import KeyBody
from api.access.usecases import IssueKey
from api.administration.routes.paging import AskedPage
from api.administration.schemas.keys import key_body
from api.administration.usecases.manage_keys import ReadKeys, RevokeKey
from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import page_body
from api.operators.usecases.record_change import Change


def router(guard: Guard, keys: IssueKey, revoking: RevokeKey, read: ReadKeys) -> APIRouter:
    """Routes below /v1/admin/keys."""
    routes = APIRouter(tags=["operator: keys"])

    @routes.get("/keys")
    async def list_keys(
        page: AskedPage,
        tenant_id: Annotated[UUID | None, Query(alias="tenantId")] = None,
        project_id: Annotated[UUID | None, Query(alias="projectId")] = None,
        number_id: Annotated[UUID | None, Query(alias="numberId")] = None,
    ) -> dict[str, Any]:
        """API keys without their secrets, newest first, revoked ones included."""
        found = await read.page(page, tenant_id=tenant_id, project_id=project_id, number_id=number_id)
        return page_body(found, key_body, limit=page.limit, id_of=lambda key: key.key_id)

    @routes.post("/keys", status_code=201)
    async def issue_key(
        body: KeyBody, change: Annotated[Change, Depends(guard.may(Action.KEY_ISSUE))]
    ) -> dict[str, str]:
        """Issue an API key; the raw key is shown this once."""
        key_id, raw = await change.creating(
            lambda: keys.issue(
                project_id=body.project_id,
                environment=body.environment,
                name=body.name,
                number_id=body.number_id,
                scope=body.scope,
            ),
            id_of=lambda issued: issued[0],
        )
        return {"id": str(key_id), "name": body.name, "key": raw}

    @routes.delete("/keys/{key_id}")
    async def revoke_key(
        key_id: UUID, change: Annotated[Change, Depends(guard.may(Action.KEY_REVOKE))]
    ) -> dict[str, str]:
        """Revoke an API key; it stops working within seconds everywhere."""
        await change.of(key_id, lambda: revoking.revoke(key_id))
        return {"id": str(key_id)}

    return routes
