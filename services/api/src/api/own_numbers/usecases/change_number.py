"""Changing a number's settings and how long the content of its messages is kept."""

from dataclasses import dataclass
from uuid import UUID

from api.access.domain import Caller
from api.numbers.domain import Number
from api.own_numbers import store
from api.own_numbers.domain import Change, changed, may_change, reach
from api.refusals import Refusal, RefusedError
from chassis.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNumber:
    """What is not given stays as it is."""

    database: Database

    async def change(self, caller: Caller, number_id: UUID, change: Change) -> Number:
        """The number as it is now."""
        reach(caller, number_id)
        may_change(caller)
        async with self.database.transaction() as tx:
            number = await store.find_own(tx, caller.tenant_id, number_id, lock=True)
            if number is None:
                raise RefusedError(Refusal.NUMBER_NOT_FOUND)
            wanted = changed(number, change)
            await store.save_change(tx, wanted)
        return wanted
