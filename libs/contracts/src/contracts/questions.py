"""What the api asks the owner of something and waits a moment for: transient request and reply."""

from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from contracts.statement import Statement
from contracts.values import Instance, Sealed, Value


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
    """A customer's webhook endpoint, without its secret."""

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
