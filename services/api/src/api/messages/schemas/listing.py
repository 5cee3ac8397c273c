"""Queries of the list and the history, and the history's rows as the official SDK expects them."""

from typing import Annotated, Any
from uuid import UUID, uuid5

from pydantic import Field

from api.messages.domain.cursors import CURSOR_LENGTH_MAX
from api.messages.domain.history import PageRequest
from api.messages.domain.instants import Period, period
from api.messages.domain.listing import PAGE_MAX
from api.messages.usecases.opening import Opened
from api.messages.usecases.read_history import HistoryPage
from api.schemas import Body, PlainLine, instant
from contracts.parts import Media
from contracts.status import Status
from contracts.values import Category, Environment, MessageContent

PAGES_MAX = 100_000
Instant = Annotated[str, Field(max_length=40)]


class ListQuery(Body):
    """Filters of the list; all of them must hold."""

    status: list[Status] = Field(default_factory=list, max_length=len(Status))
    category: Category | None = None
    environment: Environment | None = None
    from_: Instant | None = Field(default=None, validation_alias="from")
    to: Instant | None = None
    destination: str | None = Field(default=None, max_length=100)
    label: PlainLine | None = Field(default=None, min_length=1, max_length=100)
    template: PlainLine | None = Field(default=None, min_length=1, max_length=100)
    number: UUID | None = None
    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LENGTH_MAX)
    limit: int = Field(default=30, ge=1, le=PAGE_MAX)

    def accepted(self) -> Period:
        """When the messages were accepted."""
        return period(self.from_, self.to, start_field="from", end_field="to")

    def phone(self) -> str | None:
        """The destination; a space at its head is a `+` that was not encoded in the query string."""
        text = self.destination
        return f"+{text[1:]}" if text is not None and text.startswith(" ") else text


class HistoryQuery(Body):
    """A page of the history; days or instants, both included."""

    start_date: Instant | None = None
    end_date: Instant | None = None
    page: int = Field(default=1, ge=1, le=PAGES_MAX)
    page_size: int = Field(default=30, ge=1, le=PAGE_MAX)

    def period(self) -> Period:
        """When the messages were handed over."""
        return period(self.start_date, self.end_date, start_field="startDate", end_field="endDate")

    def request(self) -> PageRequest:
        """Which page."""
        return PageRequest(page=self.page, page_size=self.page_size)


def history_body(history: HistoryPage, request: PageRequest) -> dict[str, Any]:
    """A page object; `notice` only where the number keeps nothing."""
    body: dict[str, Any] = {
        "messages": [_row(opened) for opened in history.messages],
        "total": history.total,
        "page": request.page,
        "pageSize": request.page_size,
        "totalPages": -(-history.total // request.page_size),
    }
    if history.notice is not None:
        body["notice"] = history.notice
    return body


def _row(opened: Opened) -> dict[str, Any]:
    message, content = opened
    row: dict[str, Any] = {
        "id": str(message.message_id),
        "conversationId": str(uuid5(message.ref.number_id, message.recipient_hash)),
        "direction": "OUTBOUND",
        "providerKind": "PILOT_STATUS",
        "externalMessageId": message.external_id,
        "status": message.status.value,
        "messageType": _type(message.kind, content),
        "origin": "API",
        "text": (content.text or None) if content else None,
        "participantName": None,
        "participantPhone": f"+{content.to}" if content else None,
        "participantUserId": None,
        "repliedToExternalId": None,
        "media": _media(content, str(message.message_id)),
        "sentAt": instant(message.sent_at),
        "deliveredAt": instant(message.delivered_at),
        "readAt": instant(message.read_at),
        "providerTimestamp": instant(message.dispatched_at),
        "createdAt": instant(message.accepted_at),
        "referral": None,
    }
    if content is None:
        row["redacted"] = True
    return row


def _type(kind: str, content: MessageContent | None) -> str:
    part = content.part if content else None
    return part.media_type.value if isinstance(part, Media) else kind


def _media(content: MessageContent | None, message_id: str) -> dict[str, Any] | None:
    part = content.part if content else None
    if not isinstance(part, Media):
        return None
    return {
        "provider": "EVO",
        "id": message_id,
        "url": part.url,
        "mimeType": part.mime_type,
        "fileName": part.file_name,
    }
