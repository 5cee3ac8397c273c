"""Limits of each kind of message, judged on what was rendered."""

from typing import Any

import pytest

from api.content.domain.draft import ButtonDraft, Draft, HeaderDraft, ListDraft, MediaDraft, RowDraft, SectionDraft
from api.content.domain.finish import finish
from api.refusals import Refusal, RefusedError
from contracts.parts import Buttons, ListMenu, Media, MediaType
from contracts.values import MessageContent

IMAGE = MediaDraft(media="https://example.org/a.png", media_type="image")
REPLY = ButtonDraft(type="reply", label="Sim")


def made(**parts: Any) -> MessageContent:
    return finish(Draft(**parts), to="5547991000000", sender=None)


def refused(**parts: Any) -> RefusedError:
    with pytest.raises(RefusedError) as raised:
        made(**parts)
    return raised.value


def content_refusal(**parts: Any) -> str:
    error = refused(**parts)
    assert error.refusal is Refusal.CONTENT_INVALID
    return error.field or ""


def replies(*labels: str) -> tuple[ButtonDraft, ...]:
    return tuple(ButtonDraft(type="reply", label=label) for label in labels)


def menu(*titles: str, **changes: Any) -> ListDraft:
    rows = tuple(RowDraft(title=title, row_id=title.strip() or "x") for title in titles)
    return ListDraft(**({"button_text": "Abrir", "sections": (SectionDraft(title="Todos", rows=rows),)} | changes))


def test_each_kind_becomes_its_content() -> None:
    assert made(text="oi").part is None
    media = made(text="veja", media=IMAGE)
    assert isinstance(media.part, Media)
    assert (media.part.media_type, media.text) == (MediaType.IMAGE, "veja")
    header = HeaderDraft(type="text", content="Pedido ")
    buttons = made(text="oi", buttons=replies("Sim", "Não"), header=header, footer="Loja")
    assert isinstance(buttons.part, Buttons)
    assert (buttons.part.title, buttons.part.footer, len(buttons.part.buttons)) == ("Pedido", "Loja", 2)
    chosen = made(text="oi", menu=menu("Um", "Dois"))
    assert isinstance(chosen.part, ListMenu)
    assert [row.title for row in chosen.part.sections[0].rows] == ["Um", "Dois"]


def test_a_header_that_is_a_file_stands_above_buttons_or_alone() -> None:
    header = HeaderDraft(type="image", content=IMAGE.media)
    above = made(text="oi", header=header, buttons=(REPLY,)).part
    assert isinstance(above, Buttons)
    assert above.header is not None
    assert isinstance(made(text="oi", header=header).part, Media)


def test_without_buttons_header_and_footer_are_paragraphs() -> None:
    text = made(text="oi", header=HeaderDraft(type="text", content="Título"), footer="Fim").text
    assert text == "*Título*\n\noi\n\nFim"


@pytest.mark.parametrize(
    ("parts", "limit"),
    [({}, 4_096), ({"media": IMAGE}, 1_024), ({"buttons": (REPLY,)}, 1_024), ({"menu": menu("Um")}, 1_024)],
)
def test_case_26_every_kind_has_its_own_limit(parts: dict[str, Any], limit: int) -> None:
    for length in (limit - 1, limit):
        assert len(made(text="\U0001f600" * length, **parts).text) == length
    error = refused(text="x" * (limit + 1), **parts)
    assert error.refusal is Refusal.TEXT_INVALID
    assert error.extras == {"length": limit + 1, "max": limit}


@pytest.mark.parametrize("parts", [{}, {"buttons": (REPLY,)}, {"menu": menu("Um")}])
def test_case_26_blank_is_no_text(parts: dict[str, Any]) -> None:
    assert refused(text=" \n", **parts).refusal is Refusal.TEXT_INVALID


def test_case_27_three_buttons_are_the_most() -> None:
    assert made(text="oi", buttons=replies("1", "2", "3"))
    assert content_refusal(text="oi", buttons=replies("1", "2", "3", "4")) == "buttons"


def test_case_27_replies_do_not_mix_with_others() -> None:
    link = ButtonDraft(type="url", label="Ver", url="https://example.org")
    assert content_refusal(text="oi", buttons=(REPLY, link)) == "buttons"
    call = ButtonDraft(type="call", label="Ligar", phone_number="+55 47 3600-0000")
    copy = ButtonDraft(type="copy", label="Copiar", copy_code="123")
    assert made(text="oi", buttons=(link, call, copy))


@pytest.mark.parametrize("label", ["x" * 21, "a\nb", " ", "", "a\x00"])
def test_case_27_the_failing_label_is_named(label: str) -> None:
    assert content_refusal(text="oi", buttons=replies("Sim", label)) == "buttons[1].label"


def test_case_27_labels_are_counted_in_code_points_and_trimmed() -> None:
    part = made(text="oi", buttons=replies("\U0001f600" * 20, " Não ")).part
    assert isinstance(part, Buttons)
    assert [button.label for button in part.buttons] == ["\U0001f600" * 20, "Não"]


def test_case_27_equal_labels_and_ids_cannot_be_told_apart() -> None:
    assert content_refusal(text="oi", buttons=replies("Sim", "Sim ")) == "buttons[1].label"
    same = (ButtonDraft(type="reply", label="a", id="1"), ButtonDraft(type="reply", label="b", id="1"))
    assert content_refusal(text="oi", buttons=same) == "buttons[1].id"
    spaced = (ButtonDraft(type="reply", label="a", id="a b|c"), ButtonDraft(type="reply", label="b", id="x" * 257))
    assert content_refusal(text="oi", buttons=spaced) == "buttons[1].id"


@pytest.mark.parametrize(
    ("button", "field"),
    [
        (ButtonDraft(type="url", label="x"), "buttons[0].url"),
        (ButtonDraft(type="url", label="x", url="javascript:alert(1)"), "buttons[0].url"),
        (ButtonDraft(type="call", label="x", phone_number="abc"), "buttons[0].phoneNumber"),
        (ButtonDraft(type="copy", label="x"), "buttons[0].copyCode"),
    ],
)
def test_case_27_a_button_has_what_it_needs(button: ButtonDraft, field: str) -> None:
    assert content_refusal(text="oi", buttons=(button,)) == field


def test_header_and_footer_are_short_lines() -> None:
    for content in ("x" * 61, "a\nb", " "):
        header = HeaderDraft(type="text", content=content)
        assert content_refusal(text="oi", buttons=(REPLY,), header=header) == "header.content"
        assert content_refusal(text="oi", buttons=(REPLY,), footer=content) == "footer"


def test_lists_have_limits_by_field() -> None:
    assert content_refusal(text="oi", menu=menu()) == "list.sections[0].rows"
    assert content_refusal(text="oi", menu=menu(*map(str, range(11)))) == "list.sections[0].rows"
    assert content_refusal(text="oi", menu=menu("ok", "x" * 25)) == "list.sections[0].rows[1].title"
    assert content_refusal(text="oi", menu=menu("Um", "Um")) == "list.sections"
    assert content_refusal(text="oi", menu=menu("Um", button_text="x" * 21)) == "list.buttonText"
    assert content_refusal(text="oi", menu=menu("Um", sections=())) == "list.sections"
    sections = tuple(
        SectionDraft(title=str(number), rows=(RowDraft(title="a", row_id=str(number)),)) for number in range(11)
    )
    assert made(text="oi", menu=menu("Um", sections=sections[:10]))
    assert content_refusal(text="oi", menu=menu("Um", sections=sections)) == "list.sections"
    row = RowDraft(title="a", row_id="a", description="x" * 73)
    long = menu(sections=(SectionDraft(title="t", rows=(row,)),))
    assert content_refusal(text="oi", menu=long) == "list.sections[0].rows[0].description"


@pytest.mark.parametrize("media", ["ftp://example.org/x", "nothing", "data:image/png;base64,", "https://a b"])
def test_media_is_a_url_or_a_data_uri(media: str) -> None:
    assert content_refusal(media=MediaDraft(media=media, media_type="image")) == "media"


def test_media_may_be_inside_the_message() -> None:
    part = made(media=MediaDraft(media="data:image/png;base64,aGk=", media_type="image")).part
    assert isinstance(part, Media)
    assert part.inline == b"hi"


@pytest.mark.parametrize("media_type", ["audio", "voice", "sticker"])
def test_what_shows_no_caption_takes_none(media_type: str) -> None:
    media = MediaDraft(media="https://example.org/a", media_type=media_type)
    assert made(media=media).text == ""
    assert content_refusal(media=media, text="oi") == "mediaType"


@pytest.mark.parametrize("media_type", ["audio", "voice", "sticker"])
def test_above_buttons_stands_a_picture_a_video_or_a_document(media_type: str) -> None:
    media = MediaDraft(media="https://example.org/a", media_type=media_type)
    assert content_refusal(text="oi", media=media, buttons=(REPLY,)) == "mediaType"
