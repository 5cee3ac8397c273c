"""Bodies of the webhook routes."""

import json
from typing import Annotated, Any
from uuid import UUID

from fastapi import Header
from pydantic import Field, StrictBool, StrictStr

from api.refusals import Refusal, RefusedError
from api.schemas import Body, PlainLine, instant
from api.webhooks.usecases import OpenedAttempt
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
    }
