"""Which messages a caller may see: its project's, its number's if it has one, never LIVE ones with a TEST key."""

from dataclasses import dataclass
from uuid import UUID

from api.access.domain import Caller, KeyScope
from api.refusals import Refusal, RefusedError
from contracts.values import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What every query on messages is confined to; None does not confine."""

    tenant_id: UUID
    project_id: UUID | None
    number_id: UUID | None
    environment: Environment | None


def scope_of(caller: Caller, *, named_number_id: UUID | None = None) -> Scope:
    """A key's scope. A tenant key stands for the one number of its tenant that it names, in all projects."""
    is_tenant = caller.scope is KeyScope.TENANT
    if is_tenant and named_number_id is None:
        raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED)
    own_number_id = caller.number.number_id if caller.bound and caller.number else None
    return Scope(
        tenant_id=caller.tenant_id,
        project_id=None if is_tenant else caller.project_id,
        number_id=named_number_id if is_tenant else own_number_id,
        environment=Environment.TEST if caller.environment is Environment.TEST else None,
    )
