"""How an operator key comes in with a request, how lists are paged, and bodies of the operators' own routes."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Header, Query
from pydantic import Field, StrictStr

from api.operators.domain import AuditEntry, ListedOperator, Role
from api.schemas import Body, instant

Item = TypeVar("Item")

OperatorKey = Annotated[str | None, Header(alias="x-operator-key", max_length=500)]
Cursor = Annotated[UUID | None, Query(description="`nextCursor` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=200)]


class OperatorBody(Body):
    """A new operator."""

    name: StrictStr = Field(min_length=1, max_length=100)
    role: Role


class OperatorChangeBody(Body):
    """What changes about an operator; what is left out stays."""

    name: StrictStr | None = Field(default=None, min_length=1, max_length=100)
    role: Role | None = None


def page_body(
    items: Sequence[Item], shown: Callable[[Item], dict[str, Any]], *, limit: int, id_of: Callable[[Item], UUID]
) -> dict[str, Any]:
    """One page of a list, and where the next one begins, unless this is the last."""
    cursor = str(id_of(items[-1])) if len(items) == limit else None
    return {"items": [shown(item) for item in items], "nextCursor": cursor}


def operator_body(operator: ListedOperator) -> dict[str, Any]:
    """An operator without its key."""
    return {
        "id": str(operator.operator_id),
        "name": operator.name,
        "role": operator.role.value,
        "createdAt": instant(operator.created_at),
        "revokedAt": instant(operator.revoked_at),
    }


def entry_body(entry: AuditEntry) -> dict[str, Any]:
    """One change; `operator.id` is null for the key from the environment."""
    operator_id = str(entry.operator_id) if entry.operator_id else None
    return {
        "id": str(entry.entry_id),
        "at": instant(entry.at),
        "operator": {"id": operator_id, "name": entry.operator_name if operator_id else "environment"},
        "action": entry.action,
        "target": {"type": entry.target_type, "id": str(entry.target_id)},
        "before": entry.before,
        "after": entry.after,
        "requestId": entry.request_id,
    }
