"""Looking at numbers, and at their connection as the gateway sees it this moment or as it was last seen."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller
from api.numbers.domain import Number
from api.numbers.store import record_connection
from api.own_numbers import store
from api.own_numbers.domain import Group, KeyRef, reach
from api.own_numbers.usecases.gateway import Gateway, access_of
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from contracts.values import ConnectionState

NUMBERS_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A connection state and when it was seen, if ever; `live` if that was just now."""

    number_id: UUID
    state: ConnectionState
    at: datetime | None
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNumbers:
    """Numbers of a tenant, as far as the key reaches."""

    database: Database
    keys: KeyRing
    gateway: Gateway
    clock: Clock

    async def list(self, caller: Caller) -> Sequence[tuple[Number, Sequence[KeyRef]]]:
        """The first 1,000 numbers, oldest first, each with its keys."""
        only = reach(caller)
        async with self.database.transaction() as tx:
            numbers = await store.list_numbers(tx, caller.tenant_id, only=only, limit=NUMBERS_MAX)
            refs = await store.list_key_refs(tx, [number.number_id for number in numbers])
        by_number: Mapping[UUID, list[KeyRef]] = defaultdict(list)
        for ref in refs:
            by_number[ref.number_id].append(ref)
        return [(number, by_number[number.number_id]) for number in numbers]

    async def find(self, caller: Caller, number_id: UUID, *, refresh: bool = False) -> Number:
        """One number; with `refresh` the gateway is asked, and silence leaves what was known."""
        reach(caller, number_id)
        async with self.database.transaction() as tx:
            number = await store.find_own(tx, caller.tenant_id, number_id)
        if number is None:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        if not refresh:
            return number
        try:
            state = (await self._ask(number)).state
        except RefusedError:
            return number
        return replace(number, state=state)

    async def status(self, caller: Caller, number_id: UUID) -> Seen:
        """The live state; if the gateway is silent the last one seen; raises UPSTREAM_* if there is none."""
        number = await self.find(caller, number_id)
        try:
            return await self._ask(number)
        except RefusedError as error:
            if error.refusal is Refusal.PROVIDER_NOT_CONFIGURED or number.state_observed_at is None:
                raise
            return _remembered(number)

    async def probe(self, number: Number) -> Seen:
        """For operators, to whom silence is an answer; raises PROVIDER_NOT_CONFIGURED if our key is refused."""
        try:
            return await self._ask(number)
        except RefusedError as error:
            if error.refusal is Refusal.PROVIDER_NOT_CONFIGURED:
                raise
            return _remembered(number)

    async def groups(self, caller: Caller) -> Sequence[Group]:
        """The groups of the key's own number, which must be connected."""
        if caller.number is None or not caller.bound:
            raise RefusedError(Refusal.TENANT_SCOPE_NOT_ALLOWED, "Use the key of the number whose groups you want.")
        if caller.number.state is not ConnectionState.OPEN:
            raise RefusedError(Refusal.WHATSAPP_INSTANCE_NOT_CONNECTED)
        return await self.gateway.groups(caller.number.instance, access_of(caller.number, self.keys))

    async def _ask(self, number: Number) -> Seen:
        state = await self.gateway.state(number.instance, access_of(number, self.keys))
        now = self.clock()
        async with self.database.transaction() as tx:
            await record_connection(tx, instance=number.instance, state=state, observed_at=now)
        return Seen(number_id=number.number_id, state=state, at=now, live=True)


def _remembered(number: Number) -> Seen:
    return Seen(number_id=number.number_id, state=number.state, at=number.state_observed_at, live=False)
