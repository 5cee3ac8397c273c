"""Our gateway against the simulator: what was sent is recognised again, in its echo and in the gateway's memory."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from contracts.matching import leaves_a_trace, text_key, text_of
from contracts.parts import Buttons, ListMenu, Media, MediaType, ReplyButton, Row, Section, UrlButton
from contracts.values import MessageContent
from evolution_simulator.testing import SimulatorProcess, WebhookReceiver
from gateways.evolution import EvolutionLookup, EvolutionSender, translate
from gateways.port import Access, Echo, Outbound, Taken, Unknown

URL = "https://example.com/a.pdf"
INLINE = "data:application/pdf;base64,ZmlsZQ=="
LINK = UrlButton(label="Ver", url=URL)
MENU = ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=(Row(title="Um", row_id="1"),)),))

CONTENTS = [
    pytest.param("  olá\nmundo ", None, "text", id="text"),
    pytest.param("olá", Media(media_type=MediaType.IMAGE, media=URL), "image", id="image"),
    pytest.param("olá", Media(media_type=MediaType.DOCUMENT, media=INLINE), "document", id="document"),
    pytest.param("", Media(media_type=MediaType.DOCUMENT, media=INLINE), "document", id="document_without_words"),
    pytest.param("", Media(media_type=MediaType.VIDEO, media=URL), "video", id="video_without_words"),
    pytest.param("", Media(media_type=MediaType.VOICE, media=URL), "voice", id="voice"),
    pytest.param("", Media(media_type=MediaType.STICKER, media=URL), "sticker", id="sticker"),
    pytest.param("*olá*\n\n mundo \n", Buttons(buttons=(LINK,), title="Oi *você*"), "buttons", id="buttons"),
    pytest.param(" olá\n\nmundo", Buttons(buttons=(LINK,)), "buttons", id="buttons_without_title"),
    pytest.param(
        "*olá*", Buttons(buttons=(ReplyButton(label="Sim", id="1"),), footer="fim"), "buttons", id="one_bold_line"
    ),
    pytest.param(
        "olá",
        Buttons(buttons=(LINK,), header=Media(media_type=MediaType.IMAGE, media=URL)),
        "buttons",
        id="buttons_under_a_picture",
    ),
    pytest.param("olá\n\nmundo", MENU, "list", id="list"),
]


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender() as opened:
        yield opened


@pytest.fixture
async def lookup() -> AsyncIterator[EvolutionLookup]:
    async with EvolutionLookup() as opened:
        yield opened


def outbound(simulator: SimulatorProcess, instance: str, content: MessageContent) -> Outbound:
    access = Access(base_url=simulator.url, api_key=simulator.api_key, instance=instance)
    return Outbound(access=access, recipient=content.to, text=content.text, part=content.part)


@pytest.mark.parametrize(("text", "part", "kind"), CONTENTS)
async def test_an_uncertain_send_is_recognised_if_it_has_words_and_never_mistaken_if_not(
    simulator: SimulatorProcess,
    receiver: WebhookReceiver,
    sender: EvolutionSender,
    lookup: EvolutionLookup,
    instance: str,
    number: str,
    text: str,
    part: Media | Buttons | ListMenu | None,
    kind: str,
) -> None:
    content = MessageContent(to=number, text=text, part=part)
    await simulator.put_script(match={"instance": instance}, send=["accept_then_reset"], receipts="none")
    began = datetime.now(UTC)
    sending = outbound(simulator, instance, content)
    assert isinstance(await sender.send(sending), Unknown)
    [row] = await simulator.ledger(instance=instance)
    assert row["kind"] == kind

    [call] = await receiver.wait_for(1)
    [echo] = translate(call.body)
    minute = timedelta(minutes=1)
    [stored] = await lookup.sent_messages(
        sending.access, recipient=number, since=began - minute, until=began + minute, limit=10
    )
    assert isinstance(echo, Echo)
    assert echo.key_id == stored.key_id == row["key_id"]
    expected = text_key(text_of(content)) if leaves_a_trace(content) else None
    for seen in (echo.text, stored.text):
        assert (None if seen is None else text_key(seen)) == expected


@pytest.mark.parametrize(("text", "part", "kind"), CONTENTS)
async def test_every_kind_is_taken(
    simulator: SimulatorProcess,
    sender: EvolutionSender,
    instance: str,
    number: str,
    text: str,
    part: Media | Buttons | ListMenu | None,
    kind: str,
) -> None:
    answered = await sender.send(outbound(simulator, instance, MessageContent(to=number, text=text, part=part)))
    [row] = await simulator.ledger(instance=instance)
    assert answered == Taken(key_id=row["key_id"], recipient=number)
    assert "undefined" not in str(row)
