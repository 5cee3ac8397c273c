"""What the api asks the dispatcher: to cancel messages, to explain one, to describe a number's lane."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.questions import Question
from contracts.values import Category, ConnectionState, Instance, MessageRef, Value

CANCEL_MAX = 100
"""Messages one question may name."""


class CancelMessages(Question):
    """Cancel what was certainly not sent; answered with `MessagesCanceled`. Harmless when repeated."""

    TYPE: ClassVar[str] = "message.cancel.v1"

    refs: tuple[MessageRef, ...] = Field(min_length=1, max_length=CANCEL_MAX)


class CanceledMessage(Value):
    """A message that will never be sent."""

    message_id: UUID
    canceled_at: AwareDatetime


class MessagesCanceled(Question):
    """Every message asked about is in one of the two."""

    TYPE: ClassVar[str] = "message.cancel_answered.v1"

    canceled: tuple[CanceledMessage, ...]
    kept: tuple[UUID, ...]
    """Being sent, sent, failed, or of unknown outcome: nothing was changed."""


class ExplainMessage(Question):
    """Where a message is and what it waits for; answered with `MessageExplained`."""

    TYPE: ClassVar[str] = "message.explain.v1"

    ref: MessageRef


class LaneCondition(Value):
    """Whether a number can send now."""

    instance: Instance
    state: ConnectionState
    reason: str | None = Field(default=None, max_length=200)
    observed_at: AwareDatetime
    paused: bool
    in_flight: int = Field(ge=0)
    max_in_flight: int = Field(ge=1)


class JobExplained(Value):
    """A message on its way out.

    `ahead` counts the messages that leave before it, up to a bound; `expected_at` is an estimate, absent where nobody
    can tell: while the number is closed or paused, or once the message is being sent.
    """

    state: str = Field(max_length=20)
    attempt: int = Field(ge=0)
    due_at: AwareDatetime
    deliver_until: AwareDatetime
    reason: str | None = Field(default=None, max_length=200)
    resolve_by: AwareDatetime | None = None
    ahead: int = Field(default=0, ge=0)
    expected_at: AwareDatetime | None = None


class MessageExplained(Question):
    """`job` is absent for a message that has not arrived, `lane` for a number the dispatcher has not heard of."""

    TYPE: ClassVar[str] = "message.explained.v1"

    job: JobExplained | None = None
    lane: LaneCondition | None = None


class DescribeLane(Question):
    """The state of one number's lane; answered with `LaneDescribed`."""

    TYPE: ClassVar[str] = "lane.describe.v1"

    instance: Instance


class LaneDepth(Value):
    """Messages of one category that wait; counting stops at a bound. `next_slot_at`: not before."""

    category: Category
    ready: int = Field(ge=0)
    scheduled: int = Field(ge=0)
    next_slot_at: AwareDatetime


class LaneDescribed(Question):
    """`lane` is absent for a number the dispatcher has not heard of."""

    TYPE: ClassVar[str] = "lane.described.v1"

    lane: LaneCondition | None = None
    uncertain: int = Field(default=0, ge=0)
    depths: tuple[LaneDepth, ...] = ()
