"""Which number a webhook belongs to, judged from the key and from what the client says; which deliveries are meant."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from api.access.domain import Caller, KeyScope
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from contracts.delivery_questions import DeliveryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, and which number the request names."""

    caller: Caller
    number_id: UUID | None

    def naming(self, number_id: UUID | None) -> "Asking":
        """The same, naming this number if it is one."""
        return replace(self, number_id=number_id) if number_id is not None else self


def own_number(asking: Asking) -> Number | None:
    """The number of the key, which must be the one asked for if there is one; None for a tenant key, which has many."""
    caller = asking.caller
    if caller.scope is KeyScope.TENANT:
        return None
    if caller.number is None:
        raise RefusedError(Refusal.DEFAULT_NUMBER_NOT_CONFIGURED)
    if asking.number_id not in (None, caller.number.number_id):
        raise RefusedError(Refusal.NUMBER_MISMATCH, field="whatsappNumberId")
    return caller.number


def tenants_number(found: Number | None, caller: Caller) -> Number:
    """A number that a tenant key names; raises `RefusedError(NUMBER_NOT_FOUND)` for one of somebody else."""
    if found is None or found.tenant_id != caller.tenant_id or found.deleted_at is not None:
        raise RefusedError(Refusal.NUMBER_NOT_FOUND, field="whatsappNumberId")
    return found


class DeliveryStatus(StrEnum):
    """What became of a delivery, in the words of the public API; PENDING waits for its time or for its webhook."""

    PENDING = "PENDING"
    SENDING = "SENDING"
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"

    def state(self) -> DeliveryState:
        """The same in the notifier's words."""
        return DeliveryState.EXHAUSTED if self is DeliveryStatus.FAILED else DeliveryState(self.value)

    @classmethod
    def of(cls, state: DeliveryState) -> "DeliveryStatus":
        """The other way round."""
        return cls.FAILED if state is DeliveryState.EXHAUSTED else cls(state.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Which deliveries are wanted; all given conditions hold at once. `before` is where the page before ended."""

    event: str | None
    status: DeliveryStatus | None
    message_id: UUID | None
    before: UUID | None
    limit: int

    def fields(self) -> dict[str, Any]:
        """As the question has them."""
        return {
            "event": self.event,
            "states": _states(self.status),
            "message_id": self.message_id,
            "before": self.before,
            "limit": self.limit,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRange:
    """Deliveries first owed from `since` on and before `until`; `after` is where the request before ended."""

    since: datetime
    until: datetime
    events: Sequence[str]
    status: DeliveryStatus | None
    after: UUID | None

    def __post_init__(self) -> None:
        """Raises `RefusedError(INVALID_DATE_RANGE)`."""
        if self.since >= self.until:
            raise RefusedError(Refusal.INVALID_DATE_RANGE, "`from` must be before `to`.", field="from")

    def fields(self) -> dict[str, Any]:
        """As the question has them."""
        return {
            "since": self.since,
            "until": self.until,
            "events": tuple(self.events),
            "states": _states(self.status),
            "after": self.after,
        }


def _states(status: DeliveryStatus | None) -> tuple[DeliveryState, ...]:
    return (status.state(),) if status else ()
