"""Finds out which messages a caller may see."""

from dataclasses import dataclass

from api.access.domain import Caller, KeyScope
from api.messages.domain.references import as_uuid
from api.messages.domain.scope import Scope, scope_of
from api.numbers.store import find_number
from api.refusals import Refusal, RefusedError
from chassis.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Confine:
    """Only a tenant key needs a look into the database, at the number it names."""

    database: Database

    async def reading(self, caller: Caller, named_number: str | None) -> Scope:
        """For reads: a tenant key must name one of its numbers; other keys carry theirs, and the name is ignored."""
        if caller.scope is not KeyScope.TENANT or named_number is None:
            return scope_of(caller)
        number_id = as_uuid(named_number)
        async with self.database.transaction() as tx:
            number = await find_number(tx, number_id) if number_id is not None else None
        if number is None or number.tenant_id != caller.tenant_id:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        return scope_of(caller, named_number_id=number.number_id)

    def acting(self, caller: Caller) -> Scope:
        """For changes: a tenant key cannot make them."""
        return scope_of(caller)
