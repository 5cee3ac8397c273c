"""Ids of our choice: which calls ask for them, what the answer says of them, how a message is found under its own."""

import re
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from tests.gateways.conftest import ScriptedGateway, answer

from contracts.parts import Buttons, ListMenu, Media, MediaType, ReplyButton, Row, Section
from gateways.evolution import EvolutionLookup, EvolutionSender
from gateways.port import LookupFailedError, NotSent, Outbound, Taken
from gateways.reserved import reserved_id

RECIPIENT = "5547991234567"
RESERVED = "3EB00123456789ABCDEF01"
URL = "https://example.com/a.png"
MENU = ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=(Row(title="Um", row_id="1"),)),))
REPLIES = Buttons(buttons=(ReplyButton(label="Sim", id="1"),))


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender() as opened:
        yield opened


@pytest.fixture
async def lookup() -> AsyncIterator[EvolutionLookup]:
    async with EvolutionLookup() as opened:
        yield opened


def outbound(
    gateway: ScriptedGateway, part: Media | Buttons | ListMenu | None = None, *, reserved: str | None = RESERVED
) -> Outbound:
    text = "" if isinstance(part, Media) else "ola"
    return Outbound(access=gateway.access(), recipient=RECIPIENT, text=text, part=part, reserved_id=reserved)


def created(key_id: str) -> object:
    return {"key": {"remoteJid": f"{RECIPIENT}@s.whatsapp.net", "fromMe": True, "id": key_id}, "status": "PENDING"}


def test_a_reserved_id_is_the_same_for_one_round_and_looks_like_the_gateways_own() -> None:
    message_id = UUID(int=7)
    assert re.fullmatch(r"3EB0[0-9A-F]{18}", reserved_id(message_id, 1))
    assert reserved_id(message_id, 1) == reserved_id(UUID(int=7), 1)
    assert len({reserved_id(message_id, 1), reserved_id(message_id, 2), reserved_id(uuid4(), 1)}) == 3


@pytest.mark.parametrize(
    ("part", "endpoint", "is_asked"),
    [
        (None, "sendText", True),
        (Media(media_type=MediaType.IMAGE, media=URL), "sendMedia", True),
        (Media(media_type=MediaType.STICKER, media=URL), "sendSticker", True),
        (Media(media_type=MediaType.VOICE, media=URL), "sendWhatsAppAudio", False),
        (REPLIES, "sendButtons", False),
        (MENU, "sendList", False),
    ],
)
async def test_only_calls_that_pass_an_id_on_ask_for_one(
    gateway: ScriptedGateway,
    sender: EvolutionSender,
    part: Media | Buttons | ListMenu | None,
    endpoint: str,
    is_asked: bool,
) -> None:
    gateway.script = [answer(201, created(RESERVED))]
    answered = await sender.send(outbound(gateway, part))
    (seen,) = gateway.seen
    assert seen.target == f"/message/{endpoint}/shop"
    assert seen.json().get("messageId") == (RESERVED if is_asked else None)
    assert answered == Taken(key_id=RESERVED, recipient=RECIPIENT, id_honoured=True if is_asked else None)


async def test_an_older_gateway_is_noticed_to_ignore_it(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(201, created("3EB0OTHER"))]
    answered = await sender.send(outbound(gateway))
    assert answered == Taken(key_id="3EB0OTHER", recipient=RECIPIENT, id_honoured=False)


async def test_nothing_is_said_of_an_id_that_was_not_offered_or_not_used(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [answer(201, created(RESERVED)), answer(429, {})]
    assert await sender.send(outbound(gateway, reserved=None)) == Taken(key_id=RESERVED, recipient=RECIPIENT)
    assert "messageId" not in gateway.seen[0].json()
    assert isinstance(await sender.send(outbound(gateway)), NotSent)


def page(*key_ids: str) -> object:
    records = [
        {
            "key": {"remoteJid": "100000000000001@lid", "fromMe": True, "id": key_id},
            "message": {"conversation": "ola"},
            "messageTimestamp": 1_768_478_400,
        }
        for key_id in key_ids
    ]
    return {"messages": {"total": len(records), "pages": 1, "currentPage": 1, "records": records}}


async def test_a_message_is_found_under_its_id_whoever_it_went_to(
    gateway: ScriptedGateway, lookup: EvolutionLookup
) -> None:
    gateway.script = [answer(200, page(RESERVED))]
    found = await lookup.sent_message(gateway.access(), key_id=RESERVED)
    assert found is not None
    assert (found.key_id, found.text) == (RESERVED, "ola")
    assert gateway.seen[0].json()["where"] == {"key": {"id": RESERVED, "fromMe": True}}


@pytest.mark.parametrize("stored", [(), ("3EB0OTHER",)])
async def test_another_message_is_not_taken_for_it(
    gateway: ScriptedGateway, lookup: EvolutionLookup, stored: tuple[str, ...]
) -> None:
    gateway.script = [answer(200, page(*stored))]
    assert await lookup.sent_message(gateway.access(), key_id=RESERVED) is None


async def test_an_unreadable_store_is_not_an_empty_one(gateway: ScriptedGateway, lookup: EvolutionLookup) -> None:
    gateway.script = [answer(500, {"status": 500})]
    with pytest.raises(LookupFailedError):
        await lookup.sent_message(gateway.access(), key_id=RESERVED)
