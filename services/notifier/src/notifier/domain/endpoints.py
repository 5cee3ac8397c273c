"""Which endpoints a customer may have, and which events each of them hears."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.questions import ChangeEndpoint, Endpoint, RegisterEndpoint, Rejected
from contracts.status import Status
from contracts.values import MessageRef
from notifier.domain.problems import SWITCHED_OFF

EVERYTHING = "*"
KNOWN_EVENTS = frozenset(
    {
        *(f"message.{what}" for what in ("sent", "delivered", "read", "failed")),
        *(f"message.{what}" for what in ("received", "reply", "group", "newsletter")),
        *(f"number.{what}" for what in ("created", "connected", "disconnected", "removed", "restored")),
    }
)
"""Names of the published webhook contract; a customer may select them before the platform says them."""

NEVER_SAID = re.compile(r"(lead|call)\.[a-z_]{1,50}|calls|number\.(recovered|health_[a-z_]{1,50})|optin\.created")
"""Published events that this platform has no source for: selecting one selects nothing."""

EVENT_OF = {
    Status.SENT: "message.sent",
    Status.DELIVERED: "message.delivered",
    Status.READ: "message.read",
    Status.FAILED: "message.failed",
}
"""Statuses customers are told about; the others are steps of ours."""

ENDPOINTS_PER_NUMBER_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """As much of an endpoint as decides what it hears; one that is off hears too, and is told when it is on again."""

    endpoint_id: UUID
    tenant_id: UUID
    number_id: UUID
    events: tuple[str, ...]

    def is_told(self, ref: MessageRef, event: str) -> bool:
        """True if it belongs to the message's tenant and number and selected `event`; no selection means nothing."""
        owns = (ref.tenant_id, ref.number_id) == (self.tenant_id, self.number_id)
        return owns and self.hears(event)

    def hears(self, event: str) -> bool:
        """True if it selected `event`, or everything."""
        return event in self.events or EVERYTHING in self.events


def selected(events: Sequence[str]) -> tuple[str, ...]:
    """The events without repeats and without those that are published but never said here."""
    return tuple(dict.fromkeys(event for event in events if not NEVER_SAID.fullmatch(event)))


def judge_registration(
    asked: RegisterEndpoint, existing: Sequence[Endpoint], *, refusal: str | None
) -> Rejected | None:
    """Why the endpoint may not be created, None if it may. `refusal` says what is wrong with the URL, if anything is.

    `existing` are the tenant's endpoints on the same number.
    """
    rejected = _judge_place(asked.url, asked.events, existing, refusal=refusal)
    if rejected is None and len(existing) >= ENDPOINTS_PER_NUMBER_MAX:
        message = f"A number has at most {ENDPOINTS_PER_NUMBER_MAX} webhooks."
        return Rejected(code="TOO_MANY_WEBHOOKS", message=message)
    return rejected


def judge_change(
    asked: ChangeEndpoint, endpoint: Endpoint, existing: Sequence[Endpoint], *, refusal: str | None
) -> Rejected | None:
    """Why the endpoint may not be changed like this, None if it may."""
    others = [other for other in existing if other.endpoint_id != endpoint.endpoint_id]
    return _judge_place(asked.url, asked.events or (), others, refusal=refusal)


def changed(asked: ChangeEndpoint, endpoint: Endpoint, *, now: datetime) -> Endpoint:
    """The endpoint as it will be."""
    given = asked.model_dump(include={"name", "url", "active"}, exclude_none=True)
    if asked.events is not None:
        given["events"] = selected(asked.events)
    if asked.active:
        given |= {"disabled_reason": None, "disabled_at": None}
    elif asked.active is False and endpoint.active:
        given |= {"disabled_reason": SWITCHED_OFF, "disabled_at": now}
    return endpoint.model_copy(update=given)


def unknown() -> Rejected:
    """There is no such endpoint where the asker may look."""
    return Rejected(code="WEBHOOK_NOT_FOUND", message="There is no such webhook.")


def new_endpoint(asked: RegisterEndpoint, *, endpoint_id: UUID, now: datetime) -> Endpoint:
    """The endpoint as asked for."""
    return Endpoint(
        endpoint_id=endpoint_id,
        tenant_id=asked.tenant_id,
        number_id=asked.number_id,
        instance=asked.instance,
        name=asked.name,
        url=asked.url,
        events=selected(asked.events),
        active=True,
        created_at=now,
        updated_at=now,
    )


def _judge_place(
    url: str | None, events: Sequence[str], others: Sequence[Endpoint], *, refusal: str | None
) -> Rejected | None:
    unknown_events = set(selected(events)) - KNOWN_EVENTS - {EVERYTHING}
    if refusal is not None:
        return Rejected(code="WEBHOOK_URL_REFUSED", message=f"The webhook cannot be called: {refusal}.", field="url")
    if unknown_events:
        message = f"Unknown events. Known are {', '.join(sorted(KNOWN_EVENTS))} and {EVERYTHING}."
        return Rejected(code="UNKNOWN_EVENT", message=message, field="events")
    if any(other.url == url for other in others):
        return Rejected(
            code="WEBHOOK_ALREADY_EXISTS", message="This number already has a webhook with this URL.", field="url"
        )
    return None
