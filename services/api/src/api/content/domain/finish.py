"""Turns a filled-in draft into the content that is sealed, or says which part of it cannot be shown and why."""

from typing import Final

from pydantic import ValidationError

from api.content.domain.draft import ButtonDraft, Draft, HeaderDraft, ListDraft, MediaDraft
from api.content.domain.grammar import is_sendable
from api.refusals import Refusal, RefusedError
from contracts.parts import (
    Button,
    Buttons,
    CallButton,
    CopyButton,
    ListMenu,
    Media,
    MediaType,
    ReplyButton,
    Row,
    Section,
    UrlButton,
)
from contracts.values import MessageContent

KIND_LIMITS: Final = {"text": 4_096, "media": 1_024, "buttons": 1_024, "list": 1_024}
"""Unicode code points of the rendered text, caption or body, by kind of message; WhatsApp's own."""
LABEL_CHARS_MAX: Final = 20
HEADER_CHARS_MAX: Final = 60
FOOTER_CHARS_MAX: Final = 60
TITLE_CHARS_MAX: Final = 24
DESCRIPTION_CHARS_MAX: Final = 72
ROW_ID_CHARS_MAX: Final = 200
BUTTONS_MAX: Final = 3
TEMPLATE_BUTTONS_MAX: Final = 4
"""Of a template: two links, one call and one code to copy; replies are three at most everywhere."""
SECTIONS_MAX: Final = 10
ROWS_MAX: Final = 10


def finish(
    draft: Draft, *, to: str, sender: str | None, text_field: str = "text", buttons_max: int = BUTTONS_MAX
) -> MessageContent:
    """The content; raises `RefusedError(TEXT_INVALID)` for `text_field`, or `CONTENT_INVALID` naming the part."""
    if draft.menu is not None:
        text = _text(draft.text, "list", text_field)
        return _content(to=to, sender=sender, text=text, part=_menu(draft.menu))
    if draft.buttons:
        text = _text(draft.text, "buttons", text_field)
        return _content(to=to, sender=sender, text=text, part=_buttons(draft, buttons_max))
    media, text = _paragraphs(draft)
    if media is not None:
        caption = _text(text, "media", text_field) if text.strip() else ""
        return _content(to=to, sender=sender, text=caption, part=_media(media, "media"))
    return _content(to=to, sender=sender, text=_text(text, "text", text_field), part=None)


def _content(*, to: str, sender: str | None, text: str, part: Media | Buttons | ListMenu | None) -> MessageContent:
    try:
        return MessageContent(to=to, text=text, sender=sender, part=part)
    except ValidationError:
        raise _refused("A caption cannot be shown with this kind of media.", "mediaType") from None


def _paragraphs(draft: Draft) -> tuple[MediaDraft | None, str]:
    """Without buttons, a header of text and a footer are paragraphs, and a header that is a file is the file."""
    header = draft.header
    media = draft.media
    texts = [draft.text]
    if header is not None and header.type == "text":
        texts.insert(0, f"*{_line(header.content, HEADER_CHARS_MAX, 'header.content')}*")
    elif header is not None and media is None:
        media = MediaDraft(media=header.content, media_type=header.type)
    if draft.footer is not None:
        texts.append(_line(draft.footer, FOOTER_CHARS_MAX, "footer"))
    return media, "\n\n".join(texts) if len(texts) > 1 else draft.text


def _text(text: str, kind: str, field: str) -> str:
    limit = KIND_LIMITS[kind]
    if not text.strip():
        raise RefusedError(Refusal.TEXT_INVALID, "The text is empty.", field=field)
    if len(text) > limit:
        sentence = f"The rendered text has {len(text)} characters; {limit} are allowed in a message of kind {kind}."
        raise RefusedError(Refusal.TEXT_INVALID, sentence, field=field, extras={"length": len(text), "max": limit})
    if not is_sendable(text):
        raise RefusedError(Refusal.TEXT_INVALID, "The text holds NUL or half a surrogate pair.", field=field)
    return text


def _line(text: str, limit: int, field: str) -> str:
    line = text.strip()
    if not line:
        raise _refused("This may not be blank.", field)
    if len(line) > limit:
        raise _refused(f"This has {len(line)} characters; {limit} are allowed.", field)
    if not is_sendable(line) or any(character < " " or character == "\x7f" for character in line):
        raise _refused("This is one line without control characters.", field)
    return line


def _media(draft: MediaDraft, field: str) -> Media:
    try:
        return Media(media_type=MediaType(draft.media_type), media=draft.media)
    except ValidationError as error:
        reason = str(error.errors(include_url=False, include_input=False)[0]["msg"]).removeprefix("Value error, ")
        raise _refused(f"The file cannot be used: {reason}.", field) from None


def _buttons(draft: Draft, buttons_max: int) -> Buttons:
    given = draft.buttons
    if len(given) > buttons_max:
        raise _refused(f"There are {len(given)} buttons; {buttons_max} are allowed.", "buttons")
    buttons = tuple(_button(button, f"buttons[{index}]") for index, button in enumerate(given))
    if len({isinstance(button, ReplyButton) for button in buttons}) > 1:
        raise _refused("Reply buttons cannot stand beside others.", "buttons")
    _refuse_equal([button.label for button in buttons], "buttons", "label")
    _refuse_equal([button.id for button in buttons if isinstance(button, ReplyButton)], "buttons", "id")
    title, file = _header(draft.header)
    footer = _line(draft.footer, FOOTER_CHARS_MAX, "footer") if draft.footer is not None else None
    header = _media(draft.media, "media") if draft.media else file
    if header is not None and header.media_type not in (MediaType.IMAGE, MediaType.VIDEO, MediaType.DOCUMENT):
        raise _refused("Above buttons stands an image, a video or a document.", "mediaType")
    return Buttons(buttons=buttons, title=title, header=header, footer=footer)


def _header(header: HeaderDraft | None) -> tuple[str | None, Media | None]:
    if header is None:
        return None, None
    if header.type == "text":
        return _line(header.content, HEADER_CHARS_MAX, "header.content"), None
    return None, _media(MediaDraft(media=header.content, media_type=header.type), "header.content")


def _button(draft: ButtonDraft, field: str) -> Button:
    label = _line(draft.label, LABEL_CHARS_MAX, f"{field}.label")
    try:
        match draft.type:
            case "reply":
                return ReplyButton(label=label, id=_line(draft.id or label, 256, f"{field}.id"))
            case "url":
                return UrlButton(label=label, url=_line(draft.url or "", 2_048, f"{field}.url"))
            case "call":
                phone = "".join(character for character in draft.phone_number or "" if character not in " ()-.")
                return CallButton(label=label, phone_number=_line(phone, 21, f"{field}.phoneNumber"))
            case _:
                return CopyButton(label=label, copy_code=_line(draft.copy_code or "", 256, f"{field}.copyCode"))
    except ValidationError:
        what = {"url": "url", "call": "phoneNumber"}.get(draft.type, "label")
        raise _refused("This is not what such a button needs.", f"{field}.{what}") from None


def _menu(draft: ListDraft) -> ListMenu:
    if not 1 <= len(draft.sections) <= SECTIONS_MAX:
        raise _refused(f"A list has 1 to {SECTIONS_MAX} sections.", "list.sections")
    sections = []
    for index, section in enumerate(draft.sections):
        field = f"list.sections[{index}]"
        if not 1 <= len(section.rows) <= ROWS_MAX:
            raise _refused(f"A section has 1 to {ROWS_MAX} rows.", f"{field}.rows")
        rows = tuple(
            Row(
                title=_line(row.title, TITLE_CHARS_MAX, f"{field}.rows[{number}].title"),
                description=_line(row.description, DESCRIPTION_CHARS_MAX, f"{field}.rows[{number}].description")
                if row.description
                else None,
                row_id=_line(row.row_id, ROW_ID_CHARS_MAX, f"{field}.rows[{number}].rowId"),
            )
            for number, row in enumerate(section.rows)
        )
        sections.append(Section(title=_line(section.title, TITLE_CHARS_MAX, f"{field}.title"), rows=rows))
    _refuse_equal([row.row_id for section in sections for row in section.rows], "list.sections", "rowId")
    button_text = _line(draft.button_text, LABEL_CHARS_MAX, "list.buttonText")
    return ListMenu(button_text=button_text, sections=tuple(sections))


def _refuse_equal(values: list[str], field: str, what: str) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            where = f"{field}[{index}].{what}" if field == "buttons" else field
            raise _refused(f"Two of the same `{what}` could not be told apart in the answer.", where)


def _refused(sentence: str, field: str) -> RefusedError:
    return RefusedError(Refusal.CONTENT_INVALID, sentence, field=field)
