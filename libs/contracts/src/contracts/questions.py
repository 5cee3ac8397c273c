"""What the api asks the owner of something and waits a moment for: transient request and reply."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.statement import Statement
from contracts.values import Environment, Instance, Sealed, Value


class Question(Statement):
    """Goes straight to the owner's question queue."""

    EXCHANGE: ClassVar[str] = ""


class RegisterEndpoint(Question):
    """Create a customer webhook endpoint; answered with `EndpointRegistered`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.register.v1"

    tenant_id: UUID
    number_id: UUID
    instance: Instance
    name: str = Field(min_length=1, max_length=100)
    url: str = Field(min_length=1, max_length=2_048)
    events: tuple[str, ...] = Field(max_length=50)


class ListEndpoints(Question):
    """The endpoints of a tenant, or of one number of it; answered with `Endpoints`."""

    TYPE: ClassVar[str] = "endpoint.list.v1"

    tenant_id: UUID
    number_id: UUID | None = None


class Endpoint(Value):
    """A customer's webhook endpoint, without its secret.

    While it is off: `disabled_reason` and the sentence for it, `disabled_at` since when. `failing_since` is the first
    failure after its last success.
    """

    endpoint_id: UUID
    tenant_id: UUID
    number_id: UUID
    instance: Instance
    name: str
    url: str
    events: tuple[str, ...]
    active: bool
    created_at: AwareDatetime
    updated_at: AwareDatetime
    last_triggered_at: AwareDatetime | None = None
    disabled_reason: str | None = None
    disabled_hint: str | None = None
    disabled_at: AwareDatetime | None = None
    failing_since: AwareDatetime | None = None


class EndpointRegistered(Question):
    """The new endpoint and its signing secret, shown this once.

    `sealed_secret` holds the text `whsec_…`; its associated data is the endpoint id.
    """

    TYPE: ClassVar[str] = "endpoint.registered.v1"

    endpoint: Endpoint
    sealed_secret: Sealed


class Endpoints(Question):
    """Endpoints, oldest first."""

    TYPE: ClassVar[str] = "endpoint.endpoints.v1"

    endpoints: tuple[Endpoint, ...]


class Rejected(Question):
    """The owner understood and declines; `field` names what is wrong with it, if one field is."""

    TYPE: ClassVar[str] = "question.rejected.v1"

    code: str = Field(max_length=100)
    message: str = Field(max_length=500)
    field: str | None = None


class FindEndpoint(Question):
    """One endpoint of a tenant, or of one number of it; answered with `EndpointFound`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.find.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID


class ChangeEndpoint(Question):
    """What is None stays; `events` replaces the whole selection. Answered with `EndpointFound`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.change.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID
    name: str | None = Field(default=None, min_length=1, max_length=100)
    url: str | None = Field(default=None, min_length=1, max_length=2_048)
    active: bool | None = None
    events: tuple[str, ...] | None = Field(default=None, max_length=50)


class DeleteEndpoint(Question):
    """For good, with its log; answered with `EndpointFound`, as it was, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.delete.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID


class RotateSecret(Question):
    """A new signing secret beside the old one, which signs along for a while; answered with `SecretRotated`."""

    TYPE: ClassVar[str] = "endpoint.rotate_secret.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID


class ListDeliveryLog(Question):
    """Attempts at an endpoint, of one event if given; answered with `DeliveryLog`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.list_delivery_log.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID
    event: str | None = Field(default=None, max_length=100)
    limit: int = Field(default=50, ge=1, le=50)


class EndpointFound(Question):
    """An endpoint without its secret."""

    TYPE: ClassVar[str] = "endpoint.found.v1"

    endpoint: Endpoint


class SecretRotated(Question):
    """The new signing secret, shown this once, sealed like that of `EndpointRegistered`; the old one ends as said."""

    TYPE: ClassVar[str] = "endpoint.secret_rotated.v1"

    endpoint: Endpoint
    sealed_secret: Sealed
    previous_valid_until: AwareDatetime


class LoggedAttempt(Value):
    """One attempt. Payload and response are sealed with the delivery id as associated data.

    `hint` says the problem in a sentence. A payload that is no longer kept cannot be opened.
    """

    delivery_id: UUID
    attempt: int = Field(ge=1)
    event: str
    succeeded: bool
    status: int | None = None
    problem: str | None = None
    hint: str | None = None
    sealed_payload: Sealed
    sealed_response: Sealed | None = None
    duration_ms: int = Field(ge=0)
    started_at: AwareDatetime


class DeliveryLog(Question):
    """Attempts, newest first."""

    TYPE: ClassVar[str] = "endpoint.delivery_log.v1"

    number_id: UUID
    attempts: tuple[LoggedAttempt, ...]


class TryEndpoint(Question):
    """Owe an endpoint one delivery that says it is a test; answered with `TrialPlanned`, or `Rejected`."""

    TYPE: ClassVar[str] = "endpoint.try.v1"

    tenant_id: UUID
    number_id: UUID | None = None
    endpoint_id: UUID
    project_id: UUID
    environment: Environment


class TrialPlanned(Question):
    """The delivery that is owed; its attempts are in the delivery log."""

    TYPE: ClassVar[str] = "endpoint.trial_planned.v1"

    endpoint_id: UUID
    delivery_id: UUID
    event: str = Field(max_length=100)
