"""What the api asks the notifier about single deliveries: which there are, and to make some of them once more."""

from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.questions import Question
from contracts.values import Value

LISTED_MAX = 100
REPLAYED_MAX = 500
"""Deliveries that one question looks at; a longer range takes several questions."""


class DeliveryState(StrEnum):
    """A retry is PENDING again, due later, and so is what waits for an endpoint that is switched off."""

    PENDING = "PENDING"
    SENDING = "SENDING"
    DELIVERED = "DELIVERED"
    EXHAUSTED = "EXHAUSTED"


class LocateEndpoint(Question):
    """Any tenant's endpoint, for operators; answered with `EndpointFound`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.locate.v1"

    endpoint_id: UUID


class AboutEndpoint(Question):
    """About one endpoint of a tenant, or of one number of it."""

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID


class ListDeliveries(AboutEndpoint):
    """What an endpoint was owed, newest first; answered with `Deliveries`, or `Rejected`.

    All given conditions hold at once; no `states` are all. `before` is the last delivery of the page before.
    """

    TYPE: ClassVar[str] = "endpoint.list_deliveries.v1"

    event: str | None = Field(default=None, max_length=100)
    states: tuple[DeliveryState, ...] = Field(default=(), max_length=10)
    message_id: UUID | None = None
    before: UUID | None = None
    limit: int = Field(default=50, ge=1, le=LISTED_MAX)


class ListedDelivery(Value):
    """One delivery. `owed_at` is when it was first owed; `replayable` is False where the body is no longer kept."""

    delivery_id: UUID
    event: str
    message_id: UUID | None = None
    state: DeliveryState
    attempts: int = Field(ge=0)
    owed_at: AwareDatetime
    due_at: AwareDatetime
    finished_at: AwareDatetime | None = None
    last_status: int | None = None
    last_problem: str | None = None
    hint: str | None = None
    replayable: bool


class Deliveries(Question):
    """Deliveries, newest first."""

    TYPE: ClassVar[str] = "endpoint.deliveries.v1"

    endpoint_id: UUID
    deliveries: tuple[ListedDelivery, ...]


class ReplayDelivery(AboutEndpoint):
    """Make one delivery again, with the same id and body; answered with `DeliveriesReplayed`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.replay_delivery.v1"

    delivery_id: UUID


class ReplayDeliveries(AboutEndpoint):
    """Make the deliveries again that were first owed from `since` on and before `until`, oldest first.

    At most `REPLAYED_MAX` at once; `after` goes on where an answer ended. Answered with `DeliveriesReplayed`, or
    `Rejected`.
    """

    TYPE: ClassVar[str] = "endpoint.replay_deliveries.v1"

    since: AwareDatetime
    until: AwareDatetime
    events: tuple[str, ...] = Field(default=(), max_length=50)
    states: tuple[DeliveryState, ...] = Field(default=(), max_length=10)
    after: UUID | None = None


class DeliveriesReplayed(Question):
    """What is owed again, in the order in which it goes out; `skipped` cannot be sent again.

    `next_after` is None at the end of the range.
    """

    TYPE: ClassVar[str] = "endpoint.deliveries_replayed.v1"

    endpoint_id: UUID
    delivery_ids: tuple[UUID, ...]
    skipped: tuple[UUID, ...] = ()
    next_after: UUID | None = None
