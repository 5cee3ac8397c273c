"""Which deliveries can be made once more, and why the others cannot."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from contracts.delivery_questions import DeliveryState
from contracts.questions import Endpoint, Rejected

ERASED: Final = "-"
"""In the place of a body, or an answer, that is no longer kept."""
ATTEMPTS_MAX: Final = 1_000
"""A delivery with so many attempts is not replayed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """As much of a delivery as decides whether it can be made again."""

    delivery_id: UUID
    state: DeliveryState
    attempts: int
    sealed_body: str = field(repr=False)


def judge_endpoint(endpoint: Endpoint) -> Rejected | None:
    """Why nothing of this endpoint can be replayed now, None if it can."""
    if endpoint.active:
        return None
    return Rejected(code="WEBHOOK_INACTIVE", message="The webhook is switched off; switch it on to replay.")


def judge_delivery(stored: Stored | None, *, is_readable: Callable[[Stored], bool]) -> Rejected | None:
    """Why this delivery cannot be replayed, None if it can."""
    if stored is None:
        return Rejected(code="WEBHOOK_DELIVERY_NOT_FOUND", message="There is no such delivery, or it is too old.")
    if stored.state is DeliveryState.SENDING:
        return Rejected(code="WEBHOOK_DELIVERY_UNDER_WAY", message="The delivery is being attempted at this moment.")
    if stored.attempts >= ATTEMPTS_MAX:
        message = f"The delivery was attempted {ATTEMPTS_MAX} times, so it is not replayed again."
        return Rejected(code="WEBHOOK_REPLAYED_TOO_OFTEN", message=message)
    if not is_readable(stored):
        return Rejected(
            code="WEBHOOK_BODY_ERASED", message="What was sent is no longer kept, so it cannot be replayed."
        )
    return None
