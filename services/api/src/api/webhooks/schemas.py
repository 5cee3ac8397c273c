"""Bodies of the webhook routes."""

from typing import Any

from pydantic import Field, StrictStr

from api.schemas import Body, instant
from contracts.questions import Endpoint
from contracts.values import Environment


class EndpointBody(Body):
    """Where to post which events; `["*"]` means all, an empty list none."""

    url: StrictStr = Field(min_length=1, max_length=2_048)
    name: StrictStr = Field(default="webhook", min_length=1, max_length=100)
    events: list[StrictStr] = Field(default_factory=list, max_length=50)


def endpoint_body(endpoint: Endpoint, environment: Environment) -> dict[str, Any]:
    """An endpoint as the published contract shows it; the secret is not part of it."""
    return {
        "id": str(endpoint.endpoint_id),
        "tenantId": str(endpoint.tenant_id),
        "name": endpoint.name,
        "url": endpoint.url,
        "environment": environment.value,
        "active": endpoint.active,
        "events": list(endpoint.events),
        "apiKeys": [],
        "lastTriggered": instant(endpoint.last_triggered_at),
        "whatsappNumberIds": [str(endpoint.number_id)],
        "whatsappInstanceIds": [endpoint.instance],
        "createdAt": instant(endpoint.created_at),
        "updatedAt": instant(endpoint.updated_at),
    }
