"""Which number a webhook belongs to, judged from the key and from what the client says."""

from dataclasses import dataclass, replace
from uuid import UUID

from api.access.domain import Caller, KeyScope
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, and which number the request names."""

    caller: Caller
    number_id: UUID | None

    def naming(self, number_id: UUID | None) -> "Asking":
        """The same, naming this number if it is one."""
        return replace(self, number_id=number_id) if number_id is not None else self


def own_number(asking: Asking) -> Number | None:
    """The number of the key, which must be the one asked for if there is one; None for a tenant key, which has many."""
    caller = asking.caller
    if caller.scope is KeyScope.TENANT:
        return None
    if caller.number is None:
        raise RefusedError(Refusal.DEFAULT_NUMBER_NOT_CONFIGURED)
    if asking.number_id not in (None, caller.number.number_id):
        raise RefusedError(Refusal.NUMBER_MISMATCH, field="whatsappNumberId")
    return caller.number


def tenants_number(found: Number | None, caller: Caller) -> Number:
    """A number that a tenant key names; raises `RefusedError(NUMBER_NOT_FOUND)` for one of somebody else."""
    if found is None or found.tenant_id != caller.tenant_id or found.deleted_at is not None:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND, field="whatsappNumberId")
    return found
