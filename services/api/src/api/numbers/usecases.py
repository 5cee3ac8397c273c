"""Registering numbers, and following their connection."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from api.accounts.store import tenant_exists
from api.numbers import store
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database
from chassis.seal import KeyRing
from contracts.facts import NumberConnectionChanged
from contracts.ids import uuid7
from contracts.values import ConnectionState, GatewayAccess, PacingPolicy


class LaneDeclarer(Protocol):
    """Declares a number's queue; False if the broker is away (the dispatcher declares it too)."""

    async def declare(self, instance: str) -> bool: ...


class WebhookSetter(Protocol):
    """Points a gateway instance's webhooks at status-ingest; False if the gateway would not."""

    async def point(self, instance: str, access: GatewayAccess) -> bool: ...


def sealed_profile(number: Number, keys: KeyRing) -> str:
    """What is personal about a number, as its facts carry it."""
    return keys.seal(number.profile.model_dump_json().encode(), aad=number.number_id.bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A number to be registered, as an operator describes it."""

    tenant_id: UUID | None
    instance: str
    display_name: str | None
    phone: str | None
    platform_default: bool
    access: GatewayAccess
    pacing: PacingPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The new number and what could be prepared for it right away."""

    number: Number
    lane_declared: bool
    webhook_configured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterNumber:
    """Stores a number that exists at its gateway, tells everyone, and prepares its queue and its webhook."""

    database: Database
    keys: KeyRing
    lanes: LaneDeclarer
    webhooks: WebhookSetter
    clock: Clock

    async def store(self, wanted: Registration) -> Number:
        """Raises `RefusedError` for an unknown tenant, a taken instance name or a second default number."""
        number = self._number(wanted)
        async with self.database.transaction() as tx:
            if wanted.tenant_id is not None and not await tenant_exists(tx, wanted.tenant_id):
                raise RefusedError(Refusal.TENANT_NOT_FOUND)
            if not await store.insert_number(tx, number):
                raise RefusedError(
                    Refusal.ALREADY_EXISTS, "The instance is already registered, or there already is a default number."
                )
            now, profile = self.clock(), sealed_profile(number, self.keys)
            tx.emit(number.created(now, sealed_profile=profile), number.configured(now, sealed_profile=profile))
        return number

    async def prepare(self, number: Number, access: GatewayAccess) -> Registered:
        """The number's queue and its gateway's webhook, as far as broker and gateway answer now."""
        return Registered(
            number=number,
            lane_declared=await self.lanes.declare(number.instance),
            webhook_configured=await self.webhooks.point(number.instance, access),
        )

    def _number(self, wanted: Registration) -> Number:
        number_id = uuid7()
        return Number(
            number_id=number_id,
            tenant_id=wanted.tenant_id,
            instance=wanted.instance,
            display_name=wanted.display_name,
            phone=wanted.phone,
            platform_default=wanted.platform_default,
            gateway="evolution",
            sealed_access=self.keys.seal(wanted.access.model_dump_json().encode(), aad=number_id.bytes),
            pacing=wanted.pacing,
            paused=False,
            version=1,
            state=ConnectionState.CONNECTING,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindNumber:
    """Reads one number."""

    database: Database

    async def find(self, number_id: UUID) -> Number:
        """Raises `RefusedError(NUMBER_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            number = await store.find_number(tx, number_id)
        if number is None:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowConnection:
    """Keeps the connection state that a send from a bound number is checked against."""

    database: Database

    async def follow(self, fact: NumberConnectionChanged) -> None:
        """The newest observation wins."""
        async with self.database.transaction() as tx:
            await store.record_connection(tx, instance=fact.instance, state=fact.state, observed_at=fact.observed_at)
