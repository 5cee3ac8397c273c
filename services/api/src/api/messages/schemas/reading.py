"""Bodies of what is read, as the published contract has them."""

from typing import Any

from api.messages.domain.waiting import Waiting
from api.messages.usecases.explain_message import Explanation
from api.messages.usecases.list_messages import Page
from api.messages.usecases.opening import Opened
from api.schemas import instant
from contracts.errors import SENTENCES
from contracts.status import Status

OWNER_SILENT_NOTICE = "OWNER_UNAVAILABLE"


def details_body(opened: Opened) -> dict[str, Any]:
    """A message as `GET /v1/messages/{id}` shows it; `template` only if it was made of one."""
    message, content = opened
    failed = message.status is Status.FAILED and message.error_code is not None
    body: dict[str, Any] = {
        "id": str(message.message_id),
        "externalMessageId": message.external_id,
        "status": message.status.value,
        "version": message.version,
        "correlationId": message.correlation_id,
        "destinationNumber": f"+{content.to}" if content else "",
        "environment": message.ref.environment.value,
        "category": message.ref.category.value,
        "type": message.kind,
        "labels": list(message.labels),
        "numberId": str(message.ref.number_id),
        "createdAt": instant(message.accepted_at),
        "deliverBy": instant(message.deliver_by),
        "deliverUntil": instant(message.deliver_until),
        "dispatchedAt": instant(message.dispatched_at),
        "sentAt": instant(message.sent_at),
        "deliveredAt": instant(message.delivered_at),
        "readAt": instant(message.read_at),
        "failedAt": instant(message.failed_at),
        "canceledAt": instant(message.canceled_at),
        "errorCode": message.error_code.value if failed and message.error_code else None,
        "errorMessage": SENTENCES[message.error_code] if failed and message.error_code else None,
        "origin": "API",
        "metaPricing": None,
        "duplicatePossible": message.duplicate_possible,
    }
    if message.template_name:
        body["template"] = message.template_name
    return body


def page_body(page: Page) -> dict[str, Any]:
    """One page of the list; `nextCursor` is null on the last."""
    return {
        "messages": [details_body(opened) for opened in page.messages],
        "nextCursor": page.next_cursor,
        "hasMore": page.next_cursor is not None,
    }


def timeline_body(explanation: Explanation) -> dict[str, Any]:
    """Everything that happened to a message, oldest first, and what it waits for."""
    message = explanation.message
    body: dict[str, Any] = {
        "id": str(message.message_id),
        "correlationId": message.correlation_id,
        "status": message.status.value,
        "steps": [
            {
                "at": instant(step.at),
                "what": step.what,
                "round": step.round,
                "code": step.code,
                "sentence": step.sentence,
                "detail": step.detail,
            }
            for step in explanation.steps
        ],
        "waitingFor": _waiting(explanation.waiting) if explanation.waiting else None,
    }
    if explanation.is_owner_silent:
        body["notice"] = OWNER_SILENT_NOTICE
    return body


def _waiting(waiting: Waiting) -> dict[str, Any]:
    lane = waiting.lane
    number = None
    if lane is not None:
        number = {
            "state": lane.state.value,
            "reason": lane.reason,
            "observedAt": instant(lane.observed_at),
            "paused": lane.paused,
        }
    return {
        "code": waiting.what.value,
        "sentence": waiting.sentence,
        "until": instant(waiting.until),
        "expectedDispatchAt": instant(waiting.expected_at),
        "ahead": waiting.ahead,
        "number": number,
    }
