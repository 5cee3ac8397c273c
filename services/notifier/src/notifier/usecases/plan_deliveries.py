"""Turns a message's change of status into deliveries owed to every endpoint that listens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from chassis.database import Transaction
from chassis.seal import KeyRing, SealError
from contracts.facts import MessageStatusChanged
from contracts.ids import uuid7
from contracts.values import MessageContent
from notifier.domain.endpoints import EVENT_OF, Listener
from notifier.domain.payload import body_of
from notifier.domain.settlement import Planned
from notifier.store import deliveries, endpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDeliveries:
    """Writes many facts in one transaction; a repeated fact owes nothing new."""

    ring: KeyRing
    new_id: Callable[[], UUID] = uuid7

    async def write(self, tx: Transaction, facts: Sequence[MessageStatusChanged]) -> Sequence[Exception | None]:
        """One result per fact: None, or `SealError` if its snapshot cannot be opened."""
        listeners = await endpoints.listeners_of(tx, {fact.ref.number_id for fact in facts})
        planned: list[Planned] = []
        results: list[Exception | None] = []
        for fact in facts:
            try:
                planned += self._deliveries(fact, listeners)
                results.append(None)
            except SealError as error:
                results.append(error)
        await deliveries.plan(tx, planned)
        return results

    def _deliveries(self, fact: MessageStatusChanged, listeners: Sequence[Listener]) -> list[Planned]:
        event = EVENT_OF[fact.status]
        hearing = [listener for listener in listeners if listener.is_told(fact.ref, event)]
        if not hearing:
            return []
        body = body_of(fact, event, self._content(fact))
        return [self._planned(fact, event, body, listener) for listener in hearing]

    def _content(self, fact: MessageStatusChanged) -> MessageContent | None:
        if fact.sealed is None:
            return None
        return MessageContent.model_validate_json(self.ring.open(fact.sealed, aad=fact.ref.message_id.bytes))

    def _planned(self, fact: MessageStatusChanged, event: str, body: bytes, listener: Listener) -> Planned:
        delivery_id = self.new_id()
        return Planned(
            delivery_id=delivery_id,
            endpoint_id=listener.endpoint_id,
            ref=fact.ref,
            version=fact.version,
            event=event,
            changed_at=fact.changed_at,
            sealed_body=self.ring.seal(body, aad=delivery_id.bytes),
            follows=fact.previous in EVENT_OF and listener.hears(EVENT_OF[fact.previous]),
        )
