"""Whether a send is accepted, and the message it becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from api.access.domain import Caller, sending_number
from api.messages.domain.destination import normalise
from api.messages.domain.window import delivery_window
from api.numbers.domain import Number
from api.refusals import Refusal, RefusedError
from api.templates.domain import Template, body_to_send, render
from contracts.facts import MessageAccepted
from contracts.values import Category, Environment, MessageContent, MessageRef

TEXT_LENGTH_MAX = 4_096
"""Unicode code points of the rendered text; WhatsApp's own limit for a text message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest:
    """What a client asks for, already of the right types."""

    destination: str = field(repr=False)
    template: str | None = None
    variables: Mapping[str, str | int | float | bool | None] = field(default_factory=dict, repr=False)
    text: str | None = field(default=None, repr=False)
    deliver_at: str | None = None
    deliver_until: str | None = None
    urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A send that passed every check; content is still clear."""

    content: MessageContent
    number: Number
    category: Category
    template_name: str | None
    deliver_by: datetime
    deliver_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message as it is stored; `accepted` is the fact stored with it."""

    key_id: UUID
    origin: str
    source_number: str | None
    template_name: str | None
    accepted: MessageAccepted

    @property
    def ref(self) -> MessageRef:
        """Whom the fact is about."""
        return self.accepted.ref


def check_caller(caller: Caller) -> None:
    """LIVE keys send only for projects approved for production."""
    if caller.environment is Environment.LIVE and not caller.production_approved:
        raise RefusedError(Refusal.PRODUCTION_NOT_APPROVED)


def admit(request: SendRequest, *, caller: Caller, template: Template | None, now: datetime) -> Admitted:
    """The checks in their order: destination, template, text, number, window; the first failing one raises."""
    recipient = normalise(request.destination)
    text = _text(request, template, caller)
    number = sending_number(caller)
    category = template.category if template else Category.UTILITY
    start, end = delivery_window(
        deliver_at=request.deliver_at, deliver_until=request.deliver_until, category=category, now=now
    )
    return Admitted(
        content=MessageContent(to=recipient, text=text, sender=number.phone),
        number=number,
        category=category,
        template_name=template.name if template else None,
        deliver_by=start,
        deliver_until=end,
    )


def _text(request: SendRequest, template: Template | None, caller: Caller) -> str:
    if request.template is not None:
        return _checked_text(render(body_to_send(template, caller.environment), request.variables), "variables")
    return _checked_text(request.text or "", "text")


def _checked_text(text: str, field: str) -> str:
    if not text.strip():
        raise RefusedError(Refusal.TEXT_INVALID, "The text is empty.", field=field)
    if len(text) > TEXT_LENGTH_MAX:
        sentence = f"The rendered text has {len(text)} characters; {TEXT_LENGTH_MAX} are allowed."
        raise RefusedError(Refusal.TEXT_INVALID, sentence, field=field)
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise RefusedError(Refusal.TEXT_INVALID, "The text holds NUL or half a surrogate pair.", field=field)
    return text
