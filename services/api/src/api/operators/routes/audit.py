"""The operators' door to the log of changes."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api.operators.domain import AuditFilter, Target
from api.operators.schemas import Cursor, PageSize, entry_body, page_body
from api.operators.usecases.read_audit import ReadAudit


def router(read: ReadAudit) -> APIRouter:
    """Routes below /v1/admin/audit."""
    routes = APIRouter(tags=["operator: audit"])

    @routes.get("/audit")
    async def list_changes(
        cursor: Cursor = None,
        limit: PageSize = 50,
        action: Annotated[str | None, Query(max_length=100)] = None,
        operator_id: Annotated[UUID | None, Query(alias="operatorId")] = None,
        target_type: Annotated[Target | None, Query(alias="targetType")] = None,
        target_id: Annotated[UUID | None, Query(alias="targetId")] = None,
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
    ) -> dict[str, Any]:
        """What operators changed, newest first."""
        wanted = AuditFilter(
            operator_id=operator_id,
            action=action,
            target_type=target_type,
            target_id=target_id,
            since=since,
            until=until,
            until_id=cursor,
        )
        found = await read.page(wanted, limit=limit)
        return page_body(found, entry_body, limit=limit, id_of=lambda entry: entry.entry_id)

    return routes
