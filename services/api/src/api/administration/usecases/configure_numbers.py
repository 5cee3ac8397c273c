"""Configuring numbers: each change is told to everyone with a higher version, in the same commit.

A deleted number's change is told when the number is restored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from api.administration.domain import Page
from api.administration.store import numbers as store
from api.numbers.domain import Number
from api.numbers.store import find_number
from api.numbers.usecases import sealed_profile
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.seal import KeyRing
from contracts.values import PacingPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureNumber:
    """Pacing, pause, and which number is the platform's default."""

    database: Database
    keys: KeyRing
    clock: Clock

    async def pace(self, number_id: UUID, pacing: PacingPolicy) -> Number:
        """Raises `RefusedError(NUMBER_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return self._told(tx, await store.pace(tx, number_id, pacing))

    async def pause(self, number_id: UUID, *, paused: bool) -> Number:
        """Stop or resume sending from a number; raises `RefusedError(NUMBER_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            return self._told(tx, await store.pause(tx, number_id, paused=paused))

    async def make_default(self, number_id: UUID) -> Number:
        """The former default loses that role at once; raises `RefusedError` for an unknown or a tenant's own number."""
        async with self.database.transaction() as tx:
            number = await find_number(tx, number_id)
            if number is not None and number.tenant_id is not None:
                raise RefusedError(Refusal.NUMBER_BELONGS_TO_TENANT)
            former = await store.lose_default(tx)
            if former is not None and former.number_id != number_id:
                self._told(tx, former)
            return self._told(tx, await store.become_default(tx, number_id))

    def _told(self, tx: Transaction, number: Number | None) -> Number:
        if number is None:
            raise RefusedError(Refusal.NUMBER_NOT_FOUND)
        if number.deleted_at is None:
            tx.emit(number.configured(self.clock(), sealed_profile=sealed_profile(number, self.keys)))
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNumbers:
    """Shows how numbers are configured."""

    database: Database

    async def page(self, page: Page, *, tenant_id: UUID | None) -> Sequence[Number]:
        """Newest first."""
        async with self.database.transaction() as tx:
            return await store.list_numbers(tx, page, tenant_id=tenant_id)
