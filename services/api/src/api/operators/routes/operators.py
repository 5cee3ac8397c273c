"""The operators' door to operators."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from api.operators.domain import Action
from api.operators.routes.guard import Guard
from api.operators.schemas import Cursor, OperatorBody, OperatorChangeBody, PageSize, operator_body, page_body
from api.operators.usecases.manage_operators import ManageOperators, ReadOperators
from api.operators.usecases.record_change import Change


def router(guard: Guard, manage: ManageOperators, read: ReadOperators) -> APIRouter:
    """Routes below /v1/admin/operators."""
    routes = APIRouter(tags=["operator: operators"])

    @routes.get("/operators")
    async def list_operators(cursor: Cursor = None, limit: PageSize = 50) -> dict[str, Any]:
        """Operators, newest first, revoked ones included."""
        found = await read.page(after=cursor, limit=limit)
        return page_body(found, operator_body, limit=limit, id_of=lambda operator: operator.operator_id)

    @routes.get("/operators/{operator_id}")
    async def get_operator(operator_id: UUID) -> dict[str, Any]:
        """One operator."""
        return operator_body(await read.one(operator_id))

    @routes.post("/operators", status_code=201)
    async def create_operator(
        body: OperatorBody, change: Annotated[Change, Depends(guard.may(Action.OPERATOR_CREATE))]
    ) -> dict[str, Any]:
        """Create an operator; the raw key is shown this once."""
        operator_id, key = await change.creating(
            lambda: manage.create(name=body.name, role=body.role), id_of=lambda created: created[0]
        )
        return {"id": str(operator_id), "name": body.name, "role": body.role.value, "key": key}

    @routes.patch("/operators/{operator_id}")
    async def change_operator(
        operator_id: UUID,
        body: OperatorChangeBody,
        change: Annotated[Change, Depends(guard.may(Action.OPERATOR_CHANGE))],
    ) -> dict[str, Any]:
        """Change an operator's name or role."""
        changed = await change.of(operator_id, lambda: manage.change(operator_id, name=body.name, role=body.role))
        return operator_body(changed)

    @routes.delete("/operators/{operator_id}")
    async def revoke_operator(
        operator_id: UUID, change: Annotated[Change, Depends(guard.may(Action.OPERATOR_REVOKE))]
    ) -> dict[str, str]:
        """Revoke an operator's key; it stops working within seconds everywhere."""
        await change.of(operator_id, lambda: manage.revoke(operator_id))
        return {"id": str(operator_id)}

    return routes
