"""Bodies of canceling, as the published contract has them."""

from typing import Annotated, Any

from pydantic import Field, StrictStr

from api.messages.domain.cancellation import CancelOutcome
from api.schemas import Body
from contracts.dispatch_questions import CANCEL_MAX

Reference = Annotated[StrictStr, Field(min_length=1, max_length=200)]


class CancelBody(Body):
    """Ids or correlation ids."""

    message_ids: list[Reference] = Field(min_length=1, max_length=CANCEL_MAX)


def canceled_body(outcome: CancelOutcome) -> dict[str, Any]:
    """Every id given is in exactly one of the two lists."""
    return {
        "cancelled": list(outcome.canceled),
        "failed": [{"id": reference, "reason": refusal.value} for reference, refusal in outcome.failed],
    }
