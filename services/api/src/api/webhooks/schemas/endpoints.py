"""Bodies of the routes about endpoints and the attempts at them."""

import json
from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import Header
from pydantic import Field, StrictBool, StrictStr

from api.refusals import Refusal, RefusedError
from api.schemas import Body, PlainLine, instant
from api.webhooks.usecases.manage_endpoints import OpenedAttempt
from contracts.questions import Endpoint, TrialPlanned
from contracts.values import Environment

NumberId = Annotated[UUID | None, Header(alias="x-whatsapp-number-id")]
Url = Annotated[StrictStr, Field(min_length=1, max_length=2_048)]
Name = Annotated[PlainLine, Field(min_length=1, max_length=100)]
Events = Annotated[list[Annotated[StrictStr, Field(max_length=100)]], Field(max_length=50)]


class EndpointBody(Body):
    """Where to post which events; `["*"]` means all, an empty list none. A tenant key names the number."""

    url: Url
    name: Name = "webhook"
    events: Events = Field(default_factory=list)
    whatsapp_number_id: UUID | None = None


class EndpointChangeBody(Body):
    """What is null or left out stays; `events` replaces the whole list; the number cannot change."""

    url: Url | None = None
    name: Name | None = None
    active: StrictBool | None = None
    events: Events | None = None

    def changes(self) -> dict[str, Any]:
        """What is to change; raises `RefusedError(EMPTY_PATCH)`."""
        given = self.model_dump(exclude_none=True)
        if not given:
            raise RefusedError(Refusal.EMPTY_PATCH)
        return given


def endpoint_body(endpoint: Endpoint, environment: Environment) -> dict[str, Any]:
    """An endpoint as the published contract shows it, and why and since when it is off; never the secret."""
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
        "disabledReason": endpoint.disabled_reason,
        "disabledHint": endpoint.disabled_hint,
        "disabledSince": instant(endpoint.disabled_at),
        "failingSince": instant(endpoint.failing_since),
        "whatsappNumberIds": [str(endpoint.number_id)],
        "whatsappInstanceIds": [endpoint.instance],
        "createdAt": instant(endpoint.created_at),
        "updatedAt": instant(endpoint.updated_at),
    }


def operated_body(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint as operators see it; of its URL the origin only, for the rest of it may be a secret."""
    return {
        "id": str(endpoint.endpoint_id),
        "tenantId": str(endpoint.tenant_id),
        "numberId": str(endpoint.number_id),
        "instance": endpoint.instance,
        "name": endpoint.name,
        "origin": "{0.scheme}://{0.netloc}".format(urlsplit(endpoint.url)),
        "events": list(endpoint.events),
        "active": endpoint.active,
        "lastTriggered": instant(endpoint.last_triggered_at),
        "disabledReason": endpoint.disabled_reason,
        "disabledHint": endpoint.disabled_hint,
        "disabledSince": instant(endpoint.disabled_at),
        "failingSince": instant(endpoint.failing_since),
        "createdAt": instant(endpoint.created_at),
        "updatedAt": instant(endpoint.updated_at),
    }


def audited_body(endpoint: Endpoint) -> dict[str, Any]:
    """What the log of changes may show of an endpoint."""
    return {
        "tenant_id": str(endpoint.tenant_id),
        "number_id": str(endpoint.number_id),
        "active": endpoint.active,
        "disabled_reason": endpoint.disabled_reason,
    }


def trial_body(trial: TrialPlanned) -> dict[str, Any]:
    """What to look for in the log, and in the header `webhook-id`."""
    return {"webhookId": str(trial.endpoint_id), "deliveryId": str(trial.delivery_id), "event": trial.event}


def attempt_body(attempt: OpenedAttempt) -> dict[str, Any]:
    """One line of the log; payload and response are null where they cannot be opened, or there is none."""
    logged = attempt.logged
    return {
        "event": logged.event,
        "status": "SUCCESS" if logged.succeeded else "FAILED",
        "statusCode": logged.status,
        "payload": json.loads(attempt.payload) if attempt.payload is not None else None,
        "response": attempt.response.decode(errors="replace") if attempt.response is not None else None,
        "durationMs": logged.duration_ms,
        "createdAt": instant(logged.started_at),
        "deliveryId": str(logged.delivery_id),
        "attempt": logged.attempt,
        "problem": logged.problem,
        "hint": logged.hint,
    }
