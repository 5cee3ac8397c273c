"""Which counted messages are given back, as they never left, and which are counted again, as they did after all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from api.limits.domain import CounterKey, CounterName
from api.messages.domain.progress import Transition
from contracts.errors import ErrorCode
from contracts.status import Status
from contracts.values import Environment

MAY_HAVE_LEFT = frozenset({ErrorCode.UNCONFIRMED, ErrorCode.DELIVERED_NOT_CONFIRMED, ErrorCode.GATEWAY_REPORTED_ERROR})
"""Failures that do not prove that nothing was sent."""
_SENT = frozenset({Status.DISPATCHED, Status.SENT, Status.DELIVERED, Status.READ})


@dataclass(slots=True, kw_only=True)
class Settlement:
    """What is added to counters (a negative amount gives back), and the new state of each message concerned."""

    amounts: dict[CounterKey, int] = field(default_factory=dict)
    returned: dict[UUID, bool] = field(default_factory=dict)


def settle(transitions: Sequence[Transition]) -> Settlement:
    """The settlement of status changes, in the order in which they happened."""
    settlement = Settlement()
    for transition in transitions:
        counters = _counters(transition)
        returned = settlement.returned.get(transition.ref.message_id, transition.usage_returned)
        amount = _amount(transition, returned=returned)
        if not counters or amount == 0:
            continue
        settlement.returned[transition.ref.message_id] = amount < 0
        for key in counters:
            settlement.amounts[key] = settlement.amounts.get(key, 0) + amount
    return settlement


def _amount(transition: Transition, *, returned: bool) -> int:
    if returned:
        return 1 if transition.status in _SENT else 0
    return -1 if _never_left(transition) else 0


def _never_left(transition: Transition) -> bool:
    if transition.status is Status.CANCELED:
        return True
    if transition.status is not Status.FAILED or transition.error_code in MAY_HAVE_LEFT:
        return False
    return transition.dispatched_at is None and transition.external_id is None


def _counters(transition: Transition) -> list[CounterKey]:
    ref = transition.ref
    daily = CounterName.TEST_DAILY if ref.environment is Environment.TEST else CounterName.LIVE_DAILY
    wanted = ((daily, transition.usage_day), (CounterName.LIVE_MONTHLY, transition.usage_month))
    return [
        CounterKey(tenant_id=ref.tenant_id, name=name, period=period) for name, period in wanted if period is not None
    ]
