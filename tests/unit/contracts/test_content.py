"""Sealed contents of every kind and age open again, and what recognises them is the same on both sides."""

import base64
import hashlib
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from contracts.matching import holds_link, leaves_a_trace, text_key, text_keys, text_of
from contracts.parts import MEDIA_INLINE_BYTES_MAX, Buttons, ListMenu, Media, MediaType, ReplyButton, Row, Section
from contracts.values import MessageContent, Sealed

TO = "5511912345678"
URL = "https://example.com/a.png"
ROW = Row(title="Sim", row_id="1")
MENU = ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=(ROW,)),))
REPLIES = Buttons(buttons=(ReplyButton(label="Sim", id="1"),), title="Oi")
PICTURE = Media(media_type=MediaType.IMAGE, media=URL)


def content(text: str = "", part: Media | Buttons | ListMenu | None = None) -> MessageContent:
    return MessageContent(to=TO, text=text, part=part)


@pytest.mark.parametrize("sender", ["null", '"5511900000000"'])
def test_a_text_sealed_before_there_were_kinds_still_opens(sender: str) -> None:
    old = MessageContent.model_validate_json(f'{{"to":"{TO}","kind":"text","text":"ola","sender":{sender}}}')
    assert (old.to, old.kind, old.text, old.part) == (TO, "text", "ola", None)
    assert text_of(old) == "ola"


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (content("ola"), "text"),
        (content("legenda", PICTURE), "media"),
        (content(part=PICTURE), "media"),
        (content("corpo", REPLIES), "buttons"),
        (content("corpo", MENU), "list"),
    ],
)
def test_every_kind_opens_as_it_was_sealed(made: MessageContent, kind: str) -> None:
    assert made.kind == kind
    assert MessageContent.model_validate_json(made.model_dump_json()) == made


@pytest.mark.parametrize(
    "sealed",
    [
        {"kind": "hologram", "text": "ola"},
        {"kind": "media", "text": "ola"},
        {"kind": "text", "text": "ola", "part": PICTURE.model_dump()},
        {"text": ""},
        {"text": "", "part": REPLIES.model_dump()},
        {"text": "x" * 4_097},
        {"text": "legenda", "part": {"kind": "media", "media_type": "audio", "media": URL}},
    ],
)
def test_a_content_that_is_not_what_it_says_is_refused(sealed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        MessageContent.model_validate({"to": TO, **sealed})
    assert "legenda" not in str(caught.value)


def test_a_data_uri_becomes_base64_beside_its_media_type() -> None:
    file = b"\x00\x01 file"
    encoded = base64.b64encode(file).decode()
    folded = f"data:Application/PDF;name=a;base64,{encoded[:5]}\r\n{encoded[5:]}"
    for media in (
        Media(media_type=MediaType.DOCUMENT, media=folded),
        Media(media_type=MediaType.DOCUMENT, media=encoded, mime_type="application/pdf"),
    ):
        assert (media.media, media.mime_type, media.inline, media.url) == (encoded, "application/pdf", file, None)


@pytest.mark.parametrize(
    "reference",
    [
        "ftp://example.com/a.png",
        "https://",
        "https://example.com/a b",
        "https://example.com/" + "a" * 2_048,
        "data:text/plain,ola",
        "data:image/png;base64,",
        "data:image/png;base64,a",
        "data:image/png;base64,a===",
        "/etc/passwd",
        "b2xh",
        "",
        base64.b64encode(b"x" * (MEDIA_INLINE_BYTES_MAX + 1)).decode(),
    ],
)
def test_what_is_no_file_is_refused_and_not_repeated(reference: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Media(media_type=MediaType.IMAGE, media=reference)
    assert len(str(caught.value)) < 500
    assert "example.com" not in str(caught.value)


def test_the_largest_content_fits_into_a_seal() -> None:
    wide = "\U0001f600"
    media = Media(
        media_type=MediaType.IMAGE,
        media=base64.b64encode(b"x" * MEDIA_INLINE_BYTES_MAX).decode(),
        mime_type="image/png",
        file_name=wide * 255,
    )
    buttons = tuple(ReplyButton(label=wide * 256, id=wide * 256) for _ in range(3))
    part = Buttons(buttons=buttons, header=media, title=wide * 256, footer=wide * 256)
    largest = content("\x01" * 4_096, part).model_dump_json().encode()
    overhead = 1_024
    assert (len(largest) + overhead) * 4 / 3 <= TypeAdapter(Sealed).json_schema()["maxLength"]


@pytest.mark.parametrize(
    ("types", "is_legal"),
    [
        (["reply"], True),
        (["reply"] * 3, True),
        (["url", "call", "copy"], True),
        ([], False),
        (["reply"] * 4, False),
        (["reply", "url"], False),
        (["pix"], False),
    ],
)
def test_case_27_one_to_three_buttons_all_replies_or_none(types: list[str], is_legal: bool) -> None:
    fields = {"label": "x", "id": "1", "url": URL, "phone_number": "+5511900000000", "copy_code": "A1"}
    given = {"buttons": [{"type": each, **fields} for each in types]}
    if is_legal:
        assert [button.type for button in Buttons.model_validate(given).buttons] == types
    else:
        with pytest.raises(ValidationError):
            Buttons.model_validate(given)


def test_case_27_a_label_is_one_line_and_a_header_no_voice() -> None:
    with pytest.raises(ValidationError):
        ReplyButton(label="a\nb", id="1")
    with pytest.raises(ValidationError):
        Buttons(buttons=REPLIES.buttons, header=Media(media_type=MediaType.VOICE, media=URL))
    with pytest.raises(ValidationError):
        ListMenu(button_text="Abrir", sections=())


@pytest.mark.parametrize(
    ("made", "words", "is_traceable"),
    [
        (content(" ola "), " ola ", True),
        (content("legenda", PICTURE), "legenda", True),
        (content("corpo", MENU), "corpo\n\n*Tudo*\n1. Sim", True),
        (content("a\n\nb ", REPLIES), "*Oi*\n\na\n\nb\n\n1. Sim", True),
        (content("a\n\nb", REPLIES.model_copy(update={"title": None})), "a\n\nb\n\n1. Sim", True),
        (content(" ", PICTURE), f"media:image:{hashlib.sha256(URL.encode()).hexdigest()}", False),
        (
            content(part=Media(media_type=MediaType.VOICE, media="b2xh", mime_type="audio/ogg")),
            f"media:voice:{hashlib.sha256(b'ola').hexdigest()}",
            False,
        ),
    ],
)
def test_what_recognises_a_content(made: MessageContent, words: str, is_traceable: bool) -> None:
    assert text_of(made) == words
    assert leaves_a_trace(made) is is_traceable


def test_a_title_and_a_first_line_are_recognised_alike() -> None:
    assert text_key("*Oi*\n\na\n\nb") == text_key("Oi\na\nb\n") == text_key(" Oi\r\na\n \nb") == "Oi\na\nb"
    assert text_key("*Oi *você**\nx") == text_key("Oi *você*\nx")
    assert [text_key(text) for text in ("", " \n", "*", "a *b*")] == ["", "", "*", "a *b"]


def test_what_is_known_only_by_its_head_is_recognised_in_the_clear() -> None:
    assert text_keys(content("corpo", REPLIES)) == {"Oi\ncorpo\n1. Sim", "Oi\ncorpo"}
    assert text_keys(content("corpo", MENU)) == {"corpo\n*Tudo*\n1. Sim", "corpo"}
    assert text_keys(content(" ola ")) == {"ola"}


@pytest.mark.parametrize(
    ("text", "part", "is_link"),
    [
        ("veja https://example.com", None, True),
        ("veja HTTP://example.com", None, True),
        ("veja example.com", None, False),
        ("https:// sozinho", None, False),
        ("veja https://example.com", PICTURE, False),
    ],
)
def test_only_a_text_with_an_address_gets_a_preview(text: str, part: Media | None, is_link: bool) -> None:
    assert holds_link(content(text, part)) is is_link


def test_nothing_private_is_in_the_repr() -> None:
    made = content("segredo", Buttons(buttons=REPLIES.buttons, title="segredo", header=PICTURE))
    for shown in (repr(made), str(made), repr(made.part), str(made.part)):
        assert "segredo" not in shown
        assert "example.com" not in shown
