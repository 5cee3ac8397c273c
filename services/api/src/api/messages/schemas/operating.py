"""Bodies of messages as operators see them: whose they are and where they are, never to whom and what."""

from typing import Any

from api.messages.domain.details import StoredMessage
from api.messages.schemas.reading import timeline_body
from api.messages.usecases.explain_message import Explanation
from api.schemas import instant
from contracts.errors import SENTENCES
from contracts.status import Status


def operated_body(message: StoredMessage) -> dict[str, Any]:
    """A message without recipient, content and labels."""
    ref, code = message.ref, message.error_code if message.status is Status.FAILED else None
    return {
        "id": str(message.message_id),
        "externalMessageId": message.external_id,
        "correlationId": message.correlation_id,
        "tenantId": str(ref.tenant_id),
        "projectId": str(ref.project_id),
        "numberId": str(ref.number_id),
        "instance": ref.instance,
        "environment": ref.environment.value,
        "category": ref.category.value,
        "type": message.kind,
        "status": message.status.value,
        "round": ref.round,
        "version": message.version,
        "createdAt": instant(message.accepted_at),
        "deliverBy": instant(message.deliver_by),
        "deliverUntil": instant(message.deliver_until),
        "dispatchedAt": instant(message.dispatched_at),
        "sentAt": instant(message.sent_at),
        "deliveredAt": instant(message.delivered_at),
        "readAt": instant(message.read_at),
        "failedAt": instant(message.failed_at),
        "canceledAt": instant(message.canceled_at),
        "errorCode": code.value if code else None,
        "errorMessage": SENTENCES[code] if code else None,
        "duplicatePossible": message.duplicate_possible,
    }


def operated_timeline_body(explanation: Explanation) -> dict[str, Any]:
    """What the customer is told, and whose it is."""
    ref = explanation.message.ref
    return {
        **timeline_body(explanation),
        "tenantId": str(ref.tenant_id),
        "numberId": str(ref.number_id),
        "instance": ref.instance,
    }
