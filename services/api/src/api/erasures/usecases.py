"""Forgetting a recipient: asked for by an operator, carried out in bites by whichever replica comes by."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from prometheus_client import Counter

from api.erasures import store
from api.erasures.domain import Erasure, must_wait, postponed, progress
from api.messages.domain.cancellation import CancelOutcome
from api.messages.domain.scope import Scope
from api.messages.usecases.forget_content import told_forgotten
from api.recipients.domain import normalise
from api.refusals import Refusal, RefusedError
from chassis.clock import Clock
from chassis.database import Database, Transaction
from chassis.seal import KeyRing, Pepper
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from contracts.dispatch_questions import CANCEL_MAX
from contracts.facts import RecipientErased
from contracts.facts.privacy import FORGOTTEN_MAX
from contracts.ids import uuid7
from contracts.matching import RECIPIENT_PURPOSE
from gateways.recipients import recipient_key

logger = get_logger(__name__)

AT_ONCE = 10
"""Erasures looked at in one step."""

INSTANCES_MAX = 1_000
"""A tenant with more numbers has its recipient looked for behind every number."""

completed_total = Counter("pilot_api_erasures_completed_total", "Recipients forgotten everywhere.", registry=registry)


class Cancels(Protocol):
    """Cancels what waits; raises `RefusedError(OWNER_UNAVAILABLE)` while the dispatcher keeps silent."""

    async def cancel(self, references: Sequence[str], scope: Scope) -> CancelOutcome: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestErasure:
    """What the api can forget by itself is forgotten in the same commit; the rest follows in bites."""

    database: Database
    keys: KeyRing
    pepper: Pepper = field(repr=False)
    clock: Clock

    async def request(self, *, phone: str, tenant_id: UUID | None) -> Erasure:
        """Raises `RefusedError` for an unknown tenant or a phone that is none."""
        erasure_id = uuid7()
        async with self.database.transaction() as tx:
            country = await self._country(tx, tenant_id) if tenant_id is not None else None
            digits = normalise(phone, default_country=country, field="phone")
            recipient_hash = self.pepper.hash(recipient_key(digits), purpose=RECIPIENT_PURPOSE)
            await store.insert_erasure(
                tx,
                erasure_id=erasure_id,
                tenant_id=tenant_id,
                recipient_hash=recipient_hash,
                sealed_recipient=self.keys.seal(digits.encode(), aad=erasure_id.bytes),
                now=self.clock(),
            )
            return await store.forget_people(tx, erasure_id, tenant_id=tenant_id, recipient_hash=recipient_hash)

    async def _country(self, tx: Transaction, tenant_id: UUID) -> str | None:
        tenant = await store.find_tenant(tx, tenant_id)
        if tenant is None:
            raise RefusedError(Refusal.TENANT_NOT_FOUND, field="tenantId")
        return tenant.default_country


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadErasure:
    """For operators."""

    database: Database

    async def one(self, erasure_id: UUID) -> Erasure:
        """Raises `RefusedError(ERASURE_NOT_FOUND)`."""
        async with self.database.transaction() as tx:
            erasure = await store.find_erasure(tx, erasure_id)
        if erasure is None:
            raise RefusedError(Refusal.ERASURE_NOT_FOUND)
        return erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOutErasures:
    """Waiting messages are canceled, contents taken out, and every owner is told; a crash repeats at most one bite.

    Messages are gone through twice: at once, and when none of them can be sent any more and all is quiet, for what was
    on its way the first time.
    """

    database: Database
    cancels: Cancels
    clock: Clock
    bite: int = FORGOTTEN_MAX

    async def step(self) -> bool:
        """One bite of each erasure that is due; True if there may be more."""
        async with self.database.transaction() as tx:
            due = await store.due_erasures(tx, limit=AT_ONCE, now=self.clock())
        return any([await self._go_on(erasure) for erasure in due])

    async def _go_on(self, erasure: Erasure) -> bool:
        waiting = await self._cancel(erasure) if erasure.cursor is None else erasure.messages_waiting
        async with self.database.transaction() as tx:
            locked = await store.lock_erasure(tx, erasure.erasure_id, now=self.clock())
            if locked is None:
                return False
            if must_wait(locked, waiting=waiting):
                after = postponed(locked, waiting=waiting)
            else:
                found = await store.forget_messages(tx, locked, limit=self.bite)
                tx.emit(*told_forgotten([(one.message_id, one.number_id) for one in found], now=self.clock()))
                last = found[-1].message_id if len(found) == self.bite else None
                forgotten = sum(one.had_content for one in found)
                after = progress(locked, last=last, forgotten=forgotten, waiting=waiting)
                if last is None:
                    tx.emit(await self._erased(tx, locked))
            await store.save_progress(tx, locked.erasure_id, after, now=self.clock())
        completed_total.inc(after.is_done)
        return not after.wait

    async def _cancel(self, erasure: Erasure) -> int:
        """Cancel what the dispatcher lets go of; how many messages go on waiting."""
        left, canceled, after = 0, 0, None
        while True:
            async with self.database.transaction() as tx:
                page = await store.waiting_messages(tx, erasure, after=after, limit=CANCEL_MAX)
            by_tenant: dict[UUID, list[str]] = defaultdict(list)
            for one in page:
                by_tenant[one.tenant_id].append(str(one.message_id))
            ended = sum([await self._cancel_of(tenant_id, ids) for tenant_id, ids in by_tenant.items()])
            canceled, left = canceled + ended, left + len(page) - ended
            if len(page) < CANCEL_MAX:
                break
            after = page[-1].message_id
        if canceled:
            async with self.database.transaction() as tx:
                await store.count_canceled(tx, erasure.erasure_id, canceled)
        return left

    async def _cancel_of(self, tenant_id: UUID, message_ids: Sequence[str]) -> int:
        everything = Scope(tenant_id=tenant_id, project_id=None, number_id=None, environment=None)
        try:
            return len((await self.cancels.cancel(message_ids, everything)).canceled)
        except RefusedError:
            logger.warning("erasure_waits_for_dispatcher", tenant_id=tenant_id)
            return 0

    async def _erased(self, tx: Transaction, erasure: Erasure) -> RecipientErased:
        assert erasure.sealed_recipient is not None
        instances = None
        if erasure.tenant_id is not None:
            found = await store.instances_of(tx, erasure, limit=INSTANCES_MAX + 1)
            instances = tuple(found) if len(found) <= INSTANCES_MAX else None
        return RecipientErased(
            erasure_id=erasure.erasure_id,
            tenant_id=erasure.tenant_id,
            instances=instances,
            recipient_hash=erasure.recipient_hash,
            sealed_recipient=erasure.sealed_recipient,
            erased_at=self.clock(),
        )
