"""Creating a number: checked and stored first, then its instance at the gateway, then told to everyone."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from api.access.domain import Caller
from api.numbers.domain import Number
from api.numbers.store import insert_number
from api.numbers.usecases import LaneDeclarer, sealed_profile
from api.own_numbers import store
from api.own_numbers.domain import NewNumber, Pairing, check_free, links, merged
from api.own_numbers.usecases.gateway import Gateway
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from contracts.ids import uuid7
from contracts.values import ConnectionState, GatewayAccess, PacingPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """The new number, how to pair it, and the key that moved to it."""

    number: Number
    pairing: Pairing
    linked_key_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNumber:
    """A crash in between leaves a number without an instance, which `ConnectNumber` repairs."""

    database: Database
    keys: KeyRing
    gateway: Gateway
    lanes: LaneDeclarer
    clock: Clock

    async def create(self, caller: Caller, wanted: NewNumber) -> Created:
        """Raises `RefusedError` for a phone number the tenant has already, and for a gateway that does not do it."""
        access = self.gateway.new_access(secrets.token_urlsafe(24))
        draft = self._draft(caller, wanted, access)
        number = await self._store(draft)
        try:
            pairing = await self.gateway.create(number.instance, access, phone=number.phone)
        except RefusedError:
            await self._undo(number, access)
            raise
        linked = links(caller, wanted.link)
        async with self.database.transaction() as tx:
            now, profile = self.clock(), sealed_profile(number, self.keys)
            tx.emit(number.created(now, sealed_profile=profile), number.configured(now, sealed_profile=profile))
            if linked:
                await store.link_key(tx, caller.key_id, number.number_id)
        await self.lanes.declare(number.instance)
        return Created(number=number, pairing=pairing, linked_key_id=caller.key_id if linked else None)

    def _draft(self, caller: Caller, wanted: NewNumber, access: GatewayAccess) -> Number:
        number_id = uuid7()
        return Number(
            number_id=number_id,
            tenant_id=caller.tenant_id,
            instance=f"ps-{number_id.hex}",
            display_name=wanted.name,
            phone=wanted.phone,
            platform_default=False,
            gateway="evolution",
            sealed_access=self.keys.seal(access.model_dump_json().encode(), aad=number_id.bytes),
            pacing=PacingPolicy(),
            paused=False,
            version=1,
            state=ConnectionState.CONNECTING,
            settings=merged({}, wanted.settings),
        )

    async def _store(self, draft: Number) -> Number:
        assert draft.tenant_id is not None
        assert draft.phone is not None
        async with self.database.transaction() as tx:
            await store.lock_tenant(tx, draft.tenant_id)
            check_free(await store.find_by_phone(tx, draft.tenant_id, draft.phone))
            await insert_number(tx, draft)
            stored = await store.find_own(tx, draft.tenant_id, draft.number_id)
        if stored is None:
            raise RefusedError(Refusal.ALREADY_EXISTS)
        return stored

    async def _undo(self, number: Number, access: GatewayAccess) -> None:
        """Nobody has heard of the number yet."""
        async with self.database.transaction() as tx:
            await store.delete_number(tx, number.number_id)
        await self.gateway.remove(number.instance, access)
