"""Files, buttons and lists: the exact bodies Evolution 2.3.7 wants, and which of them it is never asked to send."""

import base64
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from tests.gateways.conftest import KEY, ScriptedGateway, answer, raw_then_hang

from contracts.parts import (
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
from gateways.evolution import EvolutionSender, Timeouts
from gateways.evolution.bodies import private_words
from gateways.port import Access, Outbound, RefusalCode, Refused, Taken, Unknown, UnknownReason

RECIPIENT = "5547991234567"
URL = "https://example.com/files/a.png"
CREATED = {"key": {"remoteJid": f"{RECIPIENT}@s.whatsapp.net", "fromMe": True, "id": "3EB0AA"}, "status": "PENDING"}
SHORT = Timeouts(connect_seconds=0.3, write_seconds=0.3, read_seconds=0.1, media_write_seconds=0.3)
REPLIES = (ReplyButton(label="Sim", id="s"), ReplyButton(label="Não", id="n"))

Part = Media | Buttons | ListMenu


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender(timeouts=SHORT, media_bytes_max=1_000) as opened:
        yield opened


def outbound(access: Access, part: Part, text: str = "", **more: Any) -> Outbound:
    return Outbound(access=access, recipient=RECIPIENT, text=text, part=part, **more)


def media(media_type: str, reference: str = URL, **more: Any) -> Media:
    return Media(media_type=MediaType(media_type), media=reference, **more)


def inline(size: int, mime_type: str = "image/png") -> str:
    return f"data:{mime_type};base64,{base64.b64encode(b'x' * size).decode()}"


FILES = [
    (media("image"), "ola", "sendMedia", {"mediatype": "image", "media": URL, "caption": "ola"}),
    (media("image", inline(3)), "", "sendMedia", {"mediatype": "image", "media": "eHh4"}),
    (
        media("video", file_name="a.mp4", mime_type="video/mp4"),
        "",
        "sendMedia",
        {"mediatype": "video", "media": URL, "fileName": "a.mp4", "mimetype": "video/mp4"},
    ),
    (media("video", file_name="clip"), "", "sendMedia", {"mediatype": "video", "media": URL}),
    (media("voice"), "", "sendWhatsAppAudio", {"audio": URL}),
    (media("audio", inline(3, "audio/ogg")), "", "sendWhatsAppAudio", {"audio": "eHh4"}),
    (media("sticker"), "", "sendSticker", {"sticker": URL}),
]


@pytest.mark.parametrize(("part", "text", "endpoint", "body"), FILES)
async def test_a_file_goes_to_the_endpoint_of_its_type(
    gateway: ScriptedGateway, sender: EvolutionSender, part: Media, text: str, endpoint: str, body: Mapping[str, Any]
) -> None:
    gateway.script = [answer(201, CREATED)]
    sent = await sender.send(outbound(gateway.access(), part, text))
    assert sent == Taken(key_id="3EB0AA", recipient=RECIPIENT)
    (seen,) = gateway.seen
    assert seen.target == f"/message/{endpoint}/shop"
    assert seen.json() == {"number": RECIPIENT, **body}


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (media("document", file_name="conta.docx"), "conta.docx"),
        (media("document", file_name="conta", mime_type="application/pdf"), "conta.pdf"),
        (media("document", file_name="conta"), "conta.bin"),
        (media("document", inline(3, "application/pdf")), "document.pdf"),
        (media("document", "https://example.com/x/Conta%20de%2Fluz.pdf?id=1"), "Conta de_luz.pdf"),
        (media("document", "https://example.com/get.php?id=1", mime_type="application/pdf"), "get.php.pdf"),
        (media("document", "https://example.com"), "document.bin"),
        (media("document", file_name="a" * 255), "a" * 251 + ".bin"),
    ],
)
async def test_a_document_always_has_a_name_with_an_extension(
    gateway: ScriptedGateway, sender: EvolutionSender, part: Media, name: str
) -> None:
    gateway.script = [answer(201, CREATED)]
    assert isinstance(await sender.send(outbound(gateway.access(), part)), Taken)
    assert gateway.seen[0].json()["fileName"] == name


BUTTONS = [
    (
        Buttons(buttons=REPLIES, title="Oi", footer="tchau"),
        "tudo bem?",
        {
            "title": "Oi",
            "description": "tudo bem?",
            "footer": "tchau",
            "buttons": [
                {"type": "reply", "displayText": "Sim", "id": "s"},
                {"type": "reply", "displayText": "Não", "id": "n"},
            ],
        },
    ),
    (
        Buttons(buttons=(UrlButton(label="Ver", url=URL),), header=media("image")),
        "Pedido enviado\n\nAcompanhe:\naqui",
        {
            "title": "Pedido enviado",
            "description": "Acompanhe:\naqui",
            "thumbnailUrl": URL,
            "buttons": [{"type": "url", "displayText": "Ver", "url": URL}],
        },
    ),
    (
        Buttons(
            buttons=(CallButton(label="Ligar", phone_number="+5547990000000"), CopyButton(label="Pix", copy_code="A1"))
        ),
        "uma linha",
        {
            "title": "uma linha",
            "buttons": [
                {"type": "call", "displayText": "Ligar", "phoneNumber": "+5547990000000"},
                {"type": "copy", "displayText": "Pix", "copyCode": "A1"},
            ],
        },
    ),
]


@pytest.mark.parametrize(("part", "text", "body"), BUTTONS)
async def test_case_27_buttons_never_show_undefined(
    gateway: ScriptedGateway, sender: EvolutionSender, part: Buttons, text: str, body: Mapping[str, Any]
) -> None:
    gateway.script = [answer(201, CREATED)]
    assert isinstance(await sender.send(outbound(gateway.access(), part, text)), Taken)
    assert gateway.seen[0].target == "/message/sendButtons/shop"
    assert gateway.seen[0].json() == {"number": RECIPIENT, **body}


async def test_a_list_has_title_and_footer_if_only_empty_ones(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    rows = (Row(title="Um", row_id="1", description="o primeiro"), Row(title="Dois", row_id="2"))
    menu = ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=rows),))
    gateway.script = [answer(201, CREATED)]
    assert isinstance(await sender.send(outbound(gateway.access(), menu, "escolha")), Taken)
    assert gateway.seen[0].target == "/message/sendList/shop"
    assert gateway.seen[0].json() == {
        "number": RECIPIENT,
        "title": "",
        "description": "escolha",
        "buttonText": "Abrir",
        "footerText": "",
        "sections": [
            {
                "title": "Tudo",
                "rows": [
                    {"title": "Um", "description": "o primeiro", "rowId": "1"},
                    {"title": "Dois", "rowId": "2"},
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    "part",
    [
        media("image", inline(1_001)),
        Buttons(buttons=REPLIES, header=media("image", inline(1_001))),
        Buttons(buttons=REPLIES, header=media("video")),
        Buttons(buttons=REPLIES, header=media("document")),
    ],
)
async def test_what_evolution_cannot_send_never_reaches_it(
    gateway: ScriptedGateway, sender: EvolutionSender, part: Part
) -> None:
    gateway.script = [answer(201, CREATED)]
    answered = await sender.send(outbound(gateway.access(), part, "ola"))
    assert isinstance(answered, Refused)
    assert answered.code is RefusalCode.GATEWAY_REFUSED
    assert gateway.seen == []


async def test_the_largest_file_and_a_voice_that_is_being_recorded(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [answer(201, {"presence": "recording"}), answer(201, CREATED)]
    voice = media("voice", inline(1_000, "audio/ogg"))
    assert isinstance(await sender.send(outbound(gateway.access(), voice, typing_ms=100)), Taken)
    presence, send = gateway.seen
    assert presence.json()["presence"] == "recording"
    assert len(base64.b64decode(str(send.json()["audio"]))) == 1_000


async def test_a_file_may_take_longer_than_a_text(gateway: ScriptedGateway) -> None:
    timeouts = Timeouts(connect_seconds=0.3, write_seconds=0.1, read_seconds=9, media_read_seconds=0.1)
    async with EvolutionSender(timeouts=timeouts) as sender:
        gateway.script = [raw_then_hang()]
        answered = await sender.send(outbound(gateway.access(), media("image")))
        assert answered == Unknown(reason=UnknownReason.TIMEOUT, detail="ReadTimeout")
    usual, access = EvolutionSender(), Access(base_url="http://127.0.0.1:1", api_key=KEY, instance="shop")
    assert usual.call_seconds_max(outbound(access, media("image"))) == 2 + 30 + 60
    assert usual.call_seconds_max(outbound(access, Buttons(buttons=REPLIES), "ola")) == 2 + 5 + 20


async def test_nothing_of_a_message_comes_back_in_the_detail_of_an_answer(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    secrets = ["segredo", "rodape", "rotulo", "escolha", "explica"]
    rows = (Row(title="escolha", description="explica", row_id="id"),)
    menu = ListMenu(button_text="rotulo", footer="rodape", sections=(Section(title="secao", rows=rows),))
    gateway.script = [answer(400, {"status": 400, "response": {"message": [[" ".join(secrets)]]}})]
    answered = await sender.send(outbound(gateway.access(), menu, "segredo"))
    assert isinstance(answered, Refused)
    assert not any(secret in answered.detail for secret in secrets)
    shown = repr(outbound(gateway.access(), menu, "segredo"))
    assert not any(secret in shown for secret in secrets)


def test_private_words_hold_every_word_of_every_kind() -> None:
    access = Access(base_url="http://127.0.0.1:1", api_key=KEY, instance="shop")
    part = Buttons(
        buttons=(UrlButton(label="rotulo", url=URL),), title="titulo", footer="rodape", header=media("image")
    )
    words = private_words(outbound(access, part, "corpo"))
    for word in (RECIPIENT, "corpo", "titulo", "rodape", "rotulo", URL):
        assert word in words
    assert "conta.pdf" in private_words(outbound(access, media("document", file_name="conta.pdf")))
