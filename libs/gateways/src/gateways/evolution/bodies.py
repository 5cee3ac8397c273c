"""What each kind of message looks like as a request of Evolution 2.3.7, or why it cannot be one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never
from urllib.parse import unquote, urlsplit

from contracts.parts import (
    CAPTIONED,
    Button,
    Buttons,
    CallButton,
    CopyButton,
    ListMenu,
    Media,
    MediaType,
    ReplyButton,
    Row,
    UrlButton,
)
from gateways.port import Outbound, RefusalCode, Refused

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,10}$")
_UNSAFE_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\]")
_NAME_CHARS_MAX = 255
_EXTENSIONS = {"application/pdf": ".pdf", "text/csv": ".csv", "text/plain": ".txt", "application/zip": ".zip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SendCall:
    """One of Evolution's send endpoints with its body; `heavy` where the gateway moves a file before it answers.

    `chooses_id`: 2.4 takes a `messageId` there, and everything before it ignores the field.
    """

    endpoint: str
    body: Mapping[str, object]
    presence: str = "composing"
    heavy: bool = False
    chooses_id: bool = False

    def reserving(self, key_id: str | None) -> "SendCall":
        """The call that asks for this id, where there is one and it can be asked for."""
        if key_id is None or not self.chooses_id:
            return replace(self, chooses_id=False)
        return replace(self, body={**self.body, "messageId": key_id})


def call_for(outbound: Outbound, *, media_bytes_max: int) -> SendCall | Refused:
    """The call that sends this message. `delay` stays absent: it would block the call on their side."""
    call = _call_of_its_kind(outbound, media_bytes_max)
    return call if isinstance(call, Refused) else call.reserving(outbound.reserved_id)


def _call_of_its_kind(outbound: Outbound, media_bytes_max: int) -> SendCall | Refused:
    match outbound.part:
        case None:
            body = {"number": outbound.recipient, "text": outbound.text, "linkPreview": outbound.link_preview}
            return SendCall(endpoint="sendText", body=body, chooses_id=True)
        case Media() as media:
            return _too_large(media, media_bytes_max) or _media(outbound, media)
        case Buttons() as buttons:
            return _too_large(buttons.header, media_bytes_max) or _buttons(outbound, buttons)
        case ListMenu() as menu:
            return _list(outbound, menu)
    assert_never(outbound.part)


def private_words(outbound: Outbound) -> str:
    """Everything of a message that may not be repeated in the detail of an answer."""
    words = [outbound.recipient, outbound.text]
    match outbound.part:
        case None:
            pass
        case Media() as media:
            words += [media.url or "", media.file_name or ""]
        case Buttons() as buttons:
            words += [buttons.title or "", buttons.footer or "", (buttons.header and buttons.header.url) or ""]
            words += [str(value) for button in buttons.buttons for value in _button(button).values()]
        case ListMenu() as menu:
            words += [menu.title or "", menu.footer or "", menu.button_text]
            words += [section.title for section in menu.sections]
            words += [str(value) for section in menu.sections for row in section.rows for value in _row(row).values()]
        case _:
            assert_never(outbound.part)
    return " ".join(words)


def _too_large(media: Media | None, bytes_max: int) -> Refused | None:
    size = 0 if media is None or media.url else len(media.media.rstrip("=")) * 3 // 4
    if size <= bytes_max:
        return None
    return Refused(code=RefusalCode.GATEWAY_REFUSED, detail=f"the file is larger than {bytes_max} bytes")


def _media(outbound: Outbound, media: Media) -> SendCall:
    """A data URI would be refused, hence plain base64; voice and stickers are converted there and have no caption."""
    number = {"number": outbound.recipient}
    match media.media_type:
        case MediaType.AUDIO | MediaType.VOICE:
            body = {**number, "audio": media.media}
            return SendCall(endpoint="sendWhatsAppAudio", body=body, presence="recording", heavy=True)
        case MediaType.STICKER:
            body = {**number, "sticker": media.media}
            return SendCall(endpoint="sendSticker", body=body, heavy=True, chooses_id=True)
        case MediaType.IMAGE | MediaType.VIDEO | MediaType.DOCUMENT:
            body = {**number, "mediatype": media.media_type.value, "media": media.media}
            body |= {"caption": outbound.text} if outbound.text and media.media_type in CAPTIONED else {}
            body |= _naming(media)
            return SendCall(endpoint="sendMedia", body=body, heavy=True, chooses_id=True)
    assert_never(media.media_type)


def _naming(media: Media) -> Mapping[str, str]:
    """Evolution reads the media type of what it sends from the file name's extension; an image becomes a JPEG there."""
    if media.media_type is MediaType.IMAGE:
        return {}
    mime_type = {"mimetype": media.mime_type} if media.mime_type else {}
    if media.media_type is MediaType.DOCUMENT:
        return {"fileName": _document_name(media), **mime_type}
    named = media.file_name and _EXTENSION.search(media.file_name)
    return {**({"fileName": media.file_name} if media.file_name and named else {}), **mime_type}


def _document_name(media: Media) -> str:
    """A name with an extension: the given one, else the last step of the URL with that of the media type."""
    step = unquote(urlsplit(media.url or "").path.rsplit("/", 1)[-1], errors="replace")
    name = _UNSAFE_IN_NAMES.sub("_", (media.file_name or step).strip()) or "document"
    known = _EXTENSIONS.get(media.mime_type or "")
    is_fitting = _EXTENSION.search(name) and (media.file_name or known is None or name.lower().endswith(known))
    extension = "" if is_fitting else known or ".bin"
    return name[: _NAME_CHARS_MAX - len(extension)] + extension


def _buttons(outbound: Outbound, part: Buttons) -> SendCall | Refused:
    """The title is shown in bold and, if missing, as `*undefined*`: then the first line of the text takes its place."""
    if part.header is not None and part.header.media_type is not MediaType.IMAGE:
        detail = f"a header of type {part.header.media_type} cannot stand above buttons"
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail=detail)
    title, description = part.title, outbound.text
    if title is None:
        title, *_ = outbound.text.strip().splitlines() or [""]
        description = outbound.text.strip()[len(title) :]
    body: dict[str, object] = {"number": outbound.recipient, "title": title.strip()}
    body |= {"description": description.strip()} if description.strip() else {}
    body |= {"footer": part.footer} if part.footer else {}
    body |= {"thumbnailUrl": part.header.media} if part.header else {}
    body["buttons"] = [{"type": button.type, **_button(button)} for button in part.buttons]
    return SendCall(endpoint="sendButtons", body=body, heavy=part.header is not None)


def _button(button: Button) -> Mapping[str, str]:
    match button:
        case ReplyButton(label=label, id=reply_id):
            return {"displayText": label, "id": reply_id}
        case UrlButton(label=label, url=url):
            return {"displayText": label, "url": url}
        case CallButton(label=label, phone_number=phone_number):
            return {"displayText": label, "phoneNumber": phone_number}
        case CopyButton(label=label, copy_code=copy_code):
            return {"displayText": label, "copyCode": copy_code}
    assert_never(button)


def _list(outbound: Outbound, menu: ListMenu) -> SendCall:
    """Title and footer are required there, if only as empty texts."""
    sections = [{"title": section.title, "rows": [_row(row) for row in section.rows]} for section in menu.sections]
    body = {
        "number": outbound.recipient,
        "title": menu.title or "",
        "description": outbound.text,
        "buttonText": menu.button_text,
        "footerText": menu.footer or "",
        "sections": sections,
    }
    return SendCall(endpoint="sendList", body=body)


def _row(row: Row) -> Mapping[str, str]:
    described = {"description": row.description} if row.description else {}
    return {"title": row.title, **described, "rowId": row.row_id}
