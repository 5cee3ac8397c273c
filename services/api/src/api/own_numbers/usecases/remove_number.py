"""Deleting a number for now, restoring it, and purging it for good."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller
from api.numbers.domain import Number
from api.numbers.usecases import sealed_profile
from api.own_numbers import store
from api.own_numbers.domain import RESTORABLE, check_restorable, may_change, reach
from api.own_numbers.usecases.gateway import Gateway, access_of
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing

ForgetHistory = Callable[[UUID], Awaitable[None]]
"""Redacts the content of every message of a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNumber:
    """The dispatcher stops with the fact that is stored with the change; the gateway is asked afterwards."""

    database: Database
    keys: KeyRing
    gateway: Gateway
    forget_history: ForgetHistory
    clock: Clock

    async def delete(self, caller: Caller, number_id: UUID) -> datetime:
        """Until when the number can be restored. Its keys stop working, its device is logged out."""
        reach(caller, number_id)
        may_change(caller)
        now = self.clock()
        async with self.database.transaction() as tx:
            if await store.find_own(tx, caller.tenant_id, number_id, lock=True) is None:
                raise RefusedError(Refusal.NUMBER_NOT_FOUND)
            number = await store.save_deletion(tx, number_id, deleted_at=now)
            tx.emit(number.removed(now, sealed_profile=sealed_profile(number, self.keys)))
        await self.gateway.log_out(number.instance, access_of(number, self.keys))
        return now + RESTORABLE

    async def restore(self, caller: Caller, number_id: UUID) -> None:
        """The row and its keys are back; the device must be paired again."""
        reach(caller, number_id)
        may_change(caller)
        now = self.clock()
        async with self.database.transaction() as tx:
            found = await store.find_own(tx, caller.tenant_id, number_id, deleted=True, lock=True)
            check_restorable(found, now)
            number = await store.save_deletion(tx, number_id, deleted_at=None)
            profile = sealed_profile(number, self.keys)
            tx.emit(number.restored(now, sealed_profile=profile), number.configured(now, sealed_profile=profile))

    async def purge(self, caller: Caller, number_id: UUID) -> None:
        """Takes the number, its keys, its instance and the content of its messages."""
        reach(caller, number_id)
        may_change(caller)
        now = self.clock()
        async with self.database.transaction() as tx:
            number = await store.find_own(tx, caller.tenant_id, number_id, deleted=True, lock=True)
            if number is None:
                raise RefusedError(Refusal.NUMBER_NOT_FOUND)
            if number.deleted_at is None:
                number = await store.save_deletion(tx, number_id, deleted_at=now)
                tx.emit(number.removed(now, sealed_profile=sealed_profile(number, self.keys)))
        await self._erase(number)

    async def purge_expired(self) -> bool:
        """One number whose time to be restored is over; True if there was one."""
        async with self.database.transaction() as tx:
            expired = await store.list_expired(tx, before=self.clock() - RESTORABLE, limit=1)
        for number in expired:
            await self._erase(number)
        return bool(expired)

    async def _erase(self, number: Number) -> None:
        """The row goes last, so that whatever is interrupted can be asked for again."""
        await self.forget_history(number.number_id)
        await self.gateway.remove(number.instance, access_of(number, self.keys))
        async with self.database.transaction() as tx:
            await store.delete_keys(tx, number.number_id)
            if await store.delete_number(tx, number.number_id):
                tx.emit(number.purged(self.clock()))
