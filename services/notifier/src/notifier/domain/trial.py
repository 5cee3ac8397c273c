"""A delivery that nothing happened for: a customer tries whether an endpoint of theirs hears us."""

import json
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from contracts.questions import Endpoint, Rejected, TryEndpoint
from contracts.values import Category, MessageRef
from notifier.domain.payload import iso_ms

TRIAL_EVENT: Final = "webhook.test"
"""No endpoint needs to select it, and nothing else is called so; the official SDK's parser calls it unknown."""
TRIAL_EVERY_SECONDS: Final = 5
"""Trials of one endpoint that are asked for within this time are one."""
NOTE: Final = "This is a test of your webhook. No message was sent."


def judge_trial(endpoint: Endpoint) -> Rejected | None:
    """Why nothing can be sent to the endpoint now, None if it can."""
    if endpoint.active:
        return None
    return Rejected(code="WEBHOOK_INACTIVE", message="The webhook is switched off; switch it on to test it.")


def trial_ref(asked: TryEndpoint, endpoint: Endpoint, *, now: datetime) -> MessageRef:
    """What stands in the place of a message: the same for all trials of a few seconds."""
    trial_id = uuid5(endpoint.endpoint_id, str(int(now.timestamp()) // TRIAL_EVERY_SECONDS))
    return MessageRef(
        message_id=trial_id,
        tenant_id=endpoint.tenant_id,
        project_id=asked.project_id,
        number_id=endpoint.number_id,
        instance=endpoint.instance,
        environment=asked.environment,
        category=Category.UTILITY,
        correlation_id=str(trial_id),
    )


def trial_body(endpoint: Endpoint, *, delivery_id: UUID, now: datetime) -> bytes:
    """The exact bytes to sign and send; `test` is in no other event."""
    data = {
        "test": True,
        "id": str(delivery_id),
        "webhookId": str(endpoint.endpoint_id),
        "numberId": str(endpoint.number_id),
        "createdAt": iso_ms(now),
        "note": NOTE,
    }
    return json.dumps({"event": TRIAL_EVENT, "data": data}, separators=(",", ":")).encode()
