"""What the api asks the dispatcher: to cancel messages, to explain one, to describe a number's lane."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.questions import Question
from contracts.values import Category, ConnectionState, Environment, Instance, MessageRef, Value

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
    """Whether a number can send now, and what is wrong with it.

    `sends_fail`: they fail although the gateway has not said that the number is disconnected. `next_probe_at`: when it
    is looked at next. `first_contacts_held_until`: WhatsApp refused first contacts, so none is made before.
    `unacknowledged_since`: nothing of what it handed over last was acknowledged.
    """

    instance: Instance
    state: ConnectionState
    reason: str | None = Field(default=None, max_length=200)
    observed_at: AwareDatetime
    paused: bool
    in_flight: int = Field(ge=0)
    max_in_flight: int = Field(ge=1)
    sends_fail: bool = False
    next_probe_at: AwareDatetime | None = None
    first_contacts_held_until: AwareDatetime | None = None
    unacknowledged_since: AwareDatetime | None = None


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
    """Messages of one category that wait; counting stops at a bound. `next_slot_at`: not before.

    `oldest_due_at`: since when the longest waiting one could go. `allowed_per_hour`: by pacing alone; None: no limit.
    `urgent`: how many of those that are ready are urgent.
    """

    category: Category
    ready: int = Field(ge=0)
    urgent: int = Field(default=0, ge=0)
    scheduled: int = Field(ge=0)
    next_slot_at: AwareDatetime
    oldest_due_at: AwareDatetime | None = None
    allowed_per_hour: int | None = Field(default=None, ge=0)


class TenantDepth(Value):
    """How many messages of one tenant are ready, as far as they were counted."""

    tenant_id: UUID
    ready: int = Field(ge=0)


class PaceLimit(Value):
    """One limit on how fast something goes: n sends from `now`, the next fits no earlier than
    `max(arrival_at, now) + n * interval_ms - ahead_ms`; with none before it, than `arrival_at - ahead_ms`.
    """

    arrival_at: AwareDatetime
    interval_ms: float = Field(ge=0)
    ahead_ms: float = Field(default=0, ge=0)


class SlotPace(Value):
    """The pace of one category in one environment: the gap after each send, and caps by the hour and by the day."""

    environment: Environment
    category: Category
    gap: PaceLimit
    caps: tuple[PaceLimit, ...] = Field(default=(), max_length=2)


class LaneDescribed(Question):
    """`lane` is absent for a number the dispatcher has not heard of; `tenants` are those with most messages ready.

    `paces`: what a forecast is made of, for every environment and category. `min_share`: a lower category that waits
    gets at least one of so many turns; None lets it starve.
    """

    TYPE: ClassVar[str] = "lane.described.v1"

    lane: LaneCondition | None = None
    uncertain: int = Field(default=0, ge=0)
    depths: tuple[LaneDepth, ...] = ()
    sent_last_hour: int | None = Field(default=None, ge=0)
    tenants: tuple[TenantDepth, ...] = ()
    paces: tuple[SlotPace, ...] = ()
    min_share: int | None = Field(default=None, ge=2)
