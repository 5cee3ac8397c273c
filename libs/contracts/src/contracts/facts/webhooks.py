"""How the customer's own webhooks fared."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.facts.fact import Fact, MessageFact


class WebhookOutcome(MessageFact):
    """What became of one delivery to one endpoint."""

    endpoint_id: UUID
    delivery_id: UUID
    event: str = Field(max_length=50)
    attempts: int = Field(ge=1)
    last_status: int | None = None
    at: AwareDatetime


class WebhookDelivered(WebhookOutcome):
    """The customer's endpoint answered 2xx. Said by notifier."""

    TYPE: ClassVar[str] = "webhook.delivered.v1"


class WebhookExhausted(WebhookOutcome):
    """Every attempt was used up; the delivery stays in the log for replay. Said by notifier."""

    TYPE: ClassVar[str] = "webhook.exhausted.v1"


class EndpointDisabled(Fact):
    """An endpoint was switched off for its own answers; what it is owed waits. Said by notifier.

    `reason` is the problem of the last attempt: GONE for an answer 410, another one after days without a success.
    """

    TYPE: ClassVar[str] = "endpoint.disabled.v1"

    endpoint_id: UUID
    tenant_id: UUID
    number_id: UUID
    reason: str = Field(max_length=50)
    failing_since: AwareDatetime | None = None
    at: AwareDatetime
