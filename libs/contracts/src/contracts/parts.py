"""What a message may carry besides its text: a file, buttons or a list, in no gateway's words."""

import base64
import binascii
import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MEDIA_INLINE_BYTES_MAX = 480 * 1024
"""A file inside the message, decoded: sealed it must fit into `Sealed`. Anything larger travels as a URL."""

_INLINE_CHARS_MAX = (MEDIA_INLINE_BYTES_MAX + 2) // 3 * 4
# A data URI adds its head; white space in base64 is dropped before the file is measured.
_REFERENCE_CHARS_MAX = _INLINE_CHARS_MAX * 11 // 10

_URL = re.compile(r"https?://[^\s\x00-\x1f]+", re.IGNORECASE)
_URL_CHARS_MAX = 2_048
_DATA_URI = re.compile(r"data:([^;,\s]+)(?:;[^;,]+)*;base64,(.*)", re.DOTALL | re.IGNORECASE)
_WHITE_SPACE = re.compile(r"\s+")

Line = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""One line without control characters; a safe superset of every label, title, footer and id the public API allows."""

RowText = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f\x7f]+$")]

Url = Annotated[str, StringConstraints(max_length=_URL_CHARS_MAX, pattern=r"^(?i:https?)://[^\s\x00-\x1f]+$")]

MimeType = Annotated[
    str, StringConstraints(max_length=127, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*/[A-Za-z0-9][A-Za-z0-9_.+-]*$")
]

FileName = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f/\\]+$")]


class Part(BaseModel):
    """Immutable, open to fields added later, and silent about its content in logs and errors."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"

    __str__ = __repr__


class MediaType(StrEnum):
    """What a file is to the recipient. AUDIO and VOICE both arrive as a voice note."""

    IMAGE = "image"
    VIDEO = "video"
    DOCUMENT = "document"
    AUDIO = "audio"
    VOICE = "voice"
    STICKER = "sticker"


CAPTIONED = frozenset({MediaType.IMAGE, MediaType.VIDEO, MediaType.DOCUMENT})
"""The media that show the message's text as their caption; the others cannot carry one."""

_HEADERS = frozenset({MediaType.IMAGE, MediaType.VIDEO, MediaType.DOCUMENT})


class Media(Part):
    """A file; its caption is the message's text. `media` takes a public URL, a data URI, or base64 beside `mime_type`.

    A data URI is taken apart: afterwards `media` is the URL or plain base64, never anything else.
    """

    kind: Literal["media"] = "media"
    media_type: MediaType
    media: str = Field(min_length=1, max_length=_REFERENCE_CHARS_MAX)
    mime_type: MimeType | None = None
    file_name: FileName | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_data_uri_apart(cls, given: Any) -> Any:
        reference = given.get("media") if isinstance(given, dict) else None
        if not isinstance(reference, str) or len(reference) > _REFERENCE_CHARS_MAX:
            return given
        if _DATA_URI.fullmatch(reference) is None:
            return given if _URL.match(reference) else {**given, "media": _WHITE_SPACE.sub("", reference)}
        head, _, content = reference.partition(",")
        mime_type = head[len("data:") :].partition(";")[0].lower()
        return {**given, "media": _WHITE_SPACE.sub("", content), "mime_type": mime_type}

    @model_validator(mode="after")
    def _check_reference(self) -> Self:
        if self.url is not None:
            if len(self.media) > _URL_CHARS_MAX or _URL.fullmatch(self.media) is None:
                raise ValueError("the URL is too long or not one word")
            return self
        if self.mime_type is None:
            raise ValueError("neither an http(s) URL, nor a data URI, nor base64 with its media type")
        if not 0 < len(self.inline or b"") <= MEDIA_INLINE_BYTES_MAX:
            raise ValueError(f"a file inside the message may have 1 to {MEDIA_INLINE_BYTES_MAX} bytes")
        return self

    @property
    def url(self) -> str | None:
        """Where the file is found; None if it is inside the message."""
        return self.media if _URL.match(self.media) else None

    @property
    def inline(self) -> bytes | None:
        """The file itself; None if it is found at `url`. Raises ValueError for what is not base64."""
        if self.url is not None:
            return None
        try:
            return base64.b64decode(self.media, validate=True)
        except binascii.Error:
            raise ValueError("not base64") from None


class ReplyButton(Part):
    """Sends its label back; `id` tells the sender which button it was."""

    type: Literal["reply"] = "reply"
    label: Line
    id: Line


class UrlButton(Part):
    """Opens an address."""

    type: Literal["url"] = "url"
    label: Line
    url: Url


class CallButton(Part):
    """Dials a number."""

    type: Literal["call"] = "call"
    label: Line
    phone_number: str = Field(pattern=r"^\+?[0-9]{3,20}$")


class CopyButton(Part):
    """Copies a code."""

    type: Literal["copy"] = "copy"
    label: Line
    copy_code: Line


Button = ReplyButton | UrlButton | CallButton | CopyButton


REPLIES_MAX = 3
"""More of them no gateway of ours shows."""


class Buttons(Part):
    """Buttons under the message's text: up to three replies, or up to four others.

    `header` is a picture, video or document.
    """

    kind: Literal["buttons"] = "buttons"
    buttons: tuple[Annotated[Button, Field(discriminator="type")], ...] = Field(min_length=1, max_length=4)
    title: Line | None = None
    header: Media | None = None
    footer: Line | None = None

    @model_validator(mode="after")
    def _check_mix(self) -> Self:
        if len({isinstance(button, ReplyButton) for button in self.buttons}) > 1:
            raise ValueError("reply buttons cannot stand beside others")
        if isinstance(self.buttons[0], ReplyButton) and len(self.buttons) > REPLIES_MAX:
            raise ValueError(f"there are at most {REPLIES_MAX} reply buttons")
        if self.header is not None and self.header.media_type not in _HEADERS:
            raise ValueError("a header is an image, a video or a document")
        return self


class Row(Part):
    """One choice of a list; `row_id` tells the sender which one it was."""

    title: Line
    description: RowText | None = None
    row_id: Line


class Section(Part):
    """Choices under a common title."""

    title: Line
    rows: tuple[Row, ...] = Field(min_length=1, max_length=10)


class ListMenu(Part):
    """A button under the message's text that opens a list with a single choice."""

    kind: Literal["list"] = "list"
    button_text: Line
    sections: tuple[Section, ...] = Field(min_length=1, max_length=10)
    title: Line | None = None
    footer: Line | None = None
