"""Follows the life of numbers and owes each turn of it to the endpoints that listen, once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.seal import KeyRing
from contracts.facts import NumberConfigured, NumberConnectionChanged
from contracts.ids import uuid7
from contracts.values import NumberProfile
from notifier.domain import numbers as life
from notifier.domain.endpoints import Listener
from notifier.domain.numbers import News, Number, NumberEvent, Turn, body_of_number
from notifier.domain.settlement import Planned
from notifier.domain.subjects import NumberRef
from notifier.store import deliveries, endpoints, numbers

CONFIRMED_AT_ONCE_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TellOfNumbers:
    """A number is locked while its news are counted and owed, so that they are told in order, whoever hears of them."""

    database: Database
    ring: KeyRing
    confirm_after: timedelta
    clock: Clock
    new_id: Callable[[], UUID] = uuid7

    async def learn(self, fact: NumberConfigured) -> None:
        """Whose number it is; nobody is told."""
        async with self.database.transaction() as tx:
            await numbers.save(tx, life.learned(await _known(tx, fact), fact))

    async def turn(self, fact: Turn) -> None:
        """A number was created, removed or restored."""
        async with self.database.transaction() as tx:
            await self._tell(tx, *life.turned(await _known(tx, fact), fact))

    async def observe(self, fact: NumberConnectionChanged) -> None:
        """A number's connection was seen; one that nobody told us of is not ours."""
        async with self.database.transaction() as tx:
            number = await numbers.lock_by_instance(tx, fact.instance)
            if number is not None:
                await self._tell(tx, *life.observed(number, fact))

    async def confirm(self) -> bool:
        """Tell of connections that were lost and did not come back; True if there may be more."""
        async with self.database.transaction() as tx:
            before = self.clock() - self.confirm_after
            closed = await numbers.take_closed(tx, before=before, limit=CONFIRMED_AT_ONCE_MAX)
            for number in closed:
                await self._tell(tx, *life.confirmed(number))
        return len(closed) == CONFIRMED_AT_ONCE_MAX

    async def _tell(self, tx: Transaction, number: Number, news: News | None) -> None:
        await numbers.save(tx, number)
        if news is None or number.tenant_id is None:
            return
        ref = NumberRef(tenant_id=number.tenant_id, number_id=number.number_id, instance=number.instance)
        hearing = [listener for listener in await _listeners(tx, ref, news.event) if listener.hears(news.event)]
        if hearing:
            body = body_of_number(news, self._profile(news))
            await deliveries.plan(tx, [self._planned(ref, news, body, listener.endpoint_id) for listener in hearing])

    def _profile(self, news: News) -> NumberProfile | None:
        if news.sealed_profile is None:
            return None
        opened = self.ring.open(news.sealed_profile, aad=news.number.number_id.bytes)
        return NumberProfile.model_validate_json(opened)

    def _planned(self, ref: NumberRef, news: News, body: bytes, endpoint_id: UUID) -> Planned:
        delivery_id = self.new_id()
        return Planned(
            delivery_id=delivery_id,
            endpoint_id=endpoint_id,
            ref=ref,
            version=news.number.news,
            event=news.event.value,
            changed_at=news.at,
            sealed_body=self.ring.seal(body, aad=delivery_id.bytes),
        )


async def _known(tx: Transaction, fact: NumberConfigured | Turn) -> Number:
    await numbers.add(tx, Number(number_id=fact.number_id, instance=fact.instance, tenant_id=fact.tenant_id))
    return await numbers.lock(tx, fact.number_id)


async def _listeners(tx: Transaction, ref: NumberRef, event: NumberEvent) -> Sequence[Listener]:
    """The number's own endpoints. A new number has none yet, so its creation is news for all of its tenant."""
    if event is NumberEvent.CREATED:
        return await endpoints.listeners_of_tenant(tx, ref.tenant_id)
    return [
        listener
        for listener in await endpoints.listeners_of(tx, {ref.number_id})
        if listener.tenant_id == ref.tenant_id
    ]
