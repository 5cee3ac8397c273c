"""Bodies of the message routes, as the published contract has them."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, JsonValue, StrictBool, StrictFloat, StrictInt, StrictStr

from api.messages.domain.acceptance import NewMessage, SendRequest
from api.messages.domain.details import Step, StoredMessage
from api.refusals import Refusal, RefusedError
from api.schemas import Body, instant
from contracts.errors import SENTENCES
from contracts.status import Status
from contracts.values import MessageContent

_LATER_MODES = ("media", "buttons", "header", "footer", "list", "carousel", "flow", "groupId", "newsletterId")


class SendBody(Body):
    """One message to one phone number, from a template or as free text. Nulls count as absent."""

    destination_number: StrictStr | None = Field(default=None, max_length=100)
    template_id: StrictStr | None = Field(default=None, min_length=1, max_length=100)
    variables: dict[str, StrictStr | StrictInt | StrictFloat | StrictBool | None] | None = Field(
        default=None, max_length=100
    )
    text: StrictStr | None = Field(default=None, max_length=100_000)
    deliver_at: StrictStr | None = Field(default=None, max_length=64)
    deliver_until: StrictStr | None = Field(default=None, max_length=64)
    urgent: StrictBool | None = None
    media: JsonValue = None
    buttons: JsonValue = None
    header: JsonValue = None
    footer: JsonValue = None
    list: JsonValue = None
    carousel: JsonValue = None
    flow: JsonValue = None
    group_id: JsonValue = None
    newsletter_id: JsonValue = None

    def request(self) -> SendRequest:
        """The same as a value; raises `RefusedError` unless exactly one supported mode is asked for."""
        for field in _LATER_MODES:
            if getattr(self, _snake(field)) is not None:
                raise RefusedError(Refusal.MODE_NOT_SUPPORTED, f"`{field}` is not supported yet.", field=field)
        if self.destination_number is None:
            raise RefusedError(Refusal.DESTINATION_INVALID, "Give `destinationNumber`.", field="destinationNumber")
        if (self.template_id is None) == (self.text is None):
            raise RefusedError(Refusal.MODE_INVALID, field="templateId")
        return SendRequest(
            destination=self.destination_number,
            template=self.template_id,
            variables=self.variables or {},
            text=self.text,
            deliver_at=self.deliver_at,
            deliver_until=self.deliver_until,
            urgent=self.urgent or False,
        )


def _snake(name: str) -> str:
    return {"groupId": "group_id", "newsletterId": "newsletter_id"}.get(name, name)


def accepted_body(message: NewMessage) -> dict[str, Any]:
    """The 202."""
    return {
        "id": str(message.ref.message_id),
        "correlationId": message.ref.correlation_id,
        "status": Status.QUEUED.value,
        "createdAt": instant(message.accepted.accepted_at),
        "origin": message.origin,
        "sourceNumber": message.source_number,
    }


def details_body(message: StoredMessage, content: MessageContent | None) -> dict[str, Any]:
    """A message as `GET /v1/messages/{id}` shows it; `template` only if it was made of one."""
    failed = message.status is Status.FAILED and message.error_code is not None
    body: dict[str, Any] = {
        "id": str(message.message_id),
        "externalMessageId": message.external_id,
        "status": message.status.value,
        "version": message.version,
        "correlationId": message.correlation_id,
        "destinationNumber": f"+{content.to}" if content else "",
        "createdAt": instant(message.accepted_at),
        "deliverBy": instant(message.deliver_by),
        "deliverUntil": instant(message.deliver_until),
        "dispatchedAt": instant(message.dispatched_at),
        "sentAt": instant(message.sent_at),
        "deliveredAt": instant(message.delivered_at),
        "readAt": instant(message.read_at),
        "failedAt": instant(message.failed_at),
        "errorCode": message.error_code.value if failed and message.error_code else None,
        "errorMessage": SENTENCES[message.error_code] if failed and message.error_code else None,
        "origin": "API",
        "metaPricing": None,
        "duplicatePossible": message.duplicate_possible,
    }
    if message.template_name:
        body["template"] = message.template_name
    return body


def timeline_body(message: StoredMessage, steps: Sequence[Step]) -> dict[str, Any]:
    """Everything that happened to a message, oldest first."""
    accepted: dict[str, Any] = {"at": instant(message.accepted_at), "what": "accepted", "round": 1, "detail": {}}
    later = [{"at": instant(step.at), "what": step.what, "round": step.round, "detail": step.detail} for step in steps]
    return {"id": str(message.message_id), "status": message.status.value, "steps": [accepted, *later]}
