"""Bodies of sending, as the published contract has them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictStr

from api.content.domain.draft import Draft, MediaDraft
from api.messages.domain.receipt import Receipt
from api.messages.domain.request import SendRequest
from api.messages.schemas.parts import ButtonBody, HeaderBody, ListBody
from api.refusals import Refusal, RefusedError
from api.schemas import Body, PlainLine, instant
from contracts.status import Status

MEDIA_CHARS_MAX = 800_000
"""A data URI of the largest file that fits into a message."""
LABELS_MAX = 20

_ELSEWHERE = ("carousel", "flow", "group_id", "newsletter_id")
_ALONE = {
    "list": ("template_id", "buttons", "header", "footer", "media"),
    "template_id": ("text", "buttons", "header", "footer", "caption"),
    "media": ("text", "buttons", "header", "footer"),
}
"""What cannot be given beside each mode; a template may have its media replaced."""

MediaType = Literal["image", "video", "document", "audio", "voice", "sticker"]
Label = Annotated[PlainLine, Field(min_length=1, max_length=64)]


def _phone_text(given: Any) -> Any:
    """JSON numbers: an integer is its digits, a float has lost some."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if isinstance(given, float):
        raise ValueError("give the phone number as text, not as a decimal number")
    return given


class SendBody(Body):
    """One message to one phone number: a template, a text (with buttons or a list), or media. Nulls count as absent."""

    destination_number: Annotated[StrictStr, Field(max_length=100), BeforeValidator(_phone_text)] | None = None
    template_id: StrictStr | None = Field(default=None, min_length=1, max_length=100)
    variables: dict[StrictStr, Any] | None = Field(default=None, max_length=100)
    text: StrictStr | None = Field(default=None, max_length=100_000)
    media: StrictStr | None = Field(default=None, max_length=MEDIA_CHARS_MAX)
    media_type: MediaType | None = None
    caption: StrictStr | None = Field(default=None, max_length=100_000)
    buttons: list[ButtonBody] | None = Field(default=None, max_length=100)
    header: HeaderBody | None = None
    footer: StrictStr | None = Field(default=None, max_length=1_000)
    list: ListBody | None = None
    deliver_at: StrictStr | None = Field(default=None, max_length=64)
    deliver_until: StrictStr | None = Field(default=None, max_length=64)
    urgent: StrictBool | None = None
    labels: tuple[Label, ...] | None = Field(default=None, max_length=LABELS_MAX)
    mark_read: StrictBool | None = None
    marketing_options: dict[StrictStr, Any] | None = None
    carousel: Any = None
    flow: Any = None
    group_id: Any = None
    newsletter_id: Any = None

    def request(self) -> SendRequest:
        """The same as a value; raises `RefusedError` unless one supported mode and one destination are asked for."""
        if self.destination_number is None and self.group_id is None and self.newsletter_id is None:
            raise RefusedError(Refusal.DESTINATION_INVALID, "Give `destinationNumber`.", field="destinationNumber")
        for name in _ELSEWHERE:
            if getattr(self, name) is not None:
                self._refuse_elsewhere(name)
        self._check_mode()
        return SendRequest(
            destination=self.destination_number or "",
            draft=None if self.template_id is not None else self._draft(),
            template=self.template_id,
            variables=self.variables or {} if self.template_id is not None else {},
            media=self._media() if self.template_id is not None else None,
            deliver_at=self.deliver_at,
            deliver_until=self.deliver_until,
            urgent=self.urgent or False,
            labels=tuple(dict.fromkeys(self.labels or ())),
        )

    def _given(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and value != [] and value != ()

    def _refuse_elsewhere(self, name: str) -> None:
        field = _public(name)
        if name in ("group_id", "newsletter_id") and self.destination_number is not None:
            raise RefusedError(Refusal.DESTINATION_INVALID, "Give exactly one destination.", field=field)
        raise RefusedError(Refusal.MODE_NOT_SUPPORTED, f"`{field}` is not supported yet.", field=field)

    def _check_mode(self) -> None:
        given = {name for name in self.model_fields_set if self._given(name)}
        if given.isdisjoint(("template_id", "text", "media")):
            raise RefusedError(Refusal.MODE_INVALID, field="templateId")
        for mode, others in _ALONE.items():
            for other in others if mode in given else ():
                if other in given:
                    raise _together(mode, other)
        for name in ("header", "footer"):
            if name in given and "buttons" not in given:
                raise RefusedError(
                    Refusal.MODE_INVALID, f"`{name}` can only be given together with `buttons`.", field=name
                )
        if "caption" in given and "media" not in given:
            raise RefusedError(Refusal.MODE_INVALID, "`caption` can only be given with `media`.", field="caption")

    def _draft(self) -> Draft:
        return Draft(
            text=(self.caption if self.media is not None else self.text) or "",
            media=self._media(),
            header=self.header.draft() if self.header else None,
            footer=self.footer,
            buttons=tuple(button.draft() for button in self.buttons or ()),
            menu=self.list.draft() if self.list else None,
        )

    def _media(self) -> MediaDraft | None:
        if self.media is None:
            return None
        return MediaDraft(media=self.media, media_type=self.media_type or "image")


def _together(mode: str, other: str) -> RefusedError:
    one, two = _public(mode), _public(other)
    return RefusedError(Refusal.MODE_INVALID, f"`{two}` cannot be given together with `{one}`.", field=two)


def _public(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def accepted_body(receipt: Receipt) -> dict[str, Any]:
    """The 202; the estimate is left out where there is none."""
    body: dict[str, Any] = {
        "id": str(receipt.message_id),
        "correlationId": receipt.correlation_id,
        "status": Status.QUEUED.value,
        "createdAt": instant(receipt.accepted_at),
        "origin": receipt.origin,
        "sourceNumber": receipt.source_number,
    }
    if receipt.estimated_dispatch_at is not None:
        body["estimatedDispatchAt"] = instant(receipt.estimated_dispatch_at)
    return body
