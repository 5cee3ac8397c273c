"""A sealed content of any kind is handed to the gateway whole, in its number's manner and under its reserved id."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chassis.seal import KeyRing
from contracts.matching import text_key, text_of
from contracts.parts import Buttons, ListMenu, Media, MediaType, ReplyButton, Row, Section, UrlButton
from contracts.sending import ChoiceStyle, SendingPolicy
from contracts.values import Category, Environment, GatewayAccess, MessageContent, MessageRef, Pace, PacingPolicy
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.domain.outbound import compose, typing_ms
from dispatcher.domain.rules import Rules
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.leases import LeaseBook
from gateways.port import Abilities, Access, Outbound

KEYS = KeyRing.parse(f"k1:{base64.b64encode(b'k' * 32).decode()}")
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TO = "5511912345678"
ACCESS = GatewayAccess(base_url="http://127.0.0.1:1", api_key="key")
DOOR = Access(base_url=ACCESS.base_url, api_key=ACCESS.api_key, instance="loja")
PICTURE = Media(media_type=MediaType.IMAGE, media="https://example.com/a.png")
REPLIES = Buttons(buttons=(ReplyButton(label="Sim", id="1"), ReplyButton(label="Não", id="2")), title="Oi")
MENU = ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=(Row(title="Um", row_id="1"),)),))
NEW, OLD = Abilities(native_choices=True, reserved_ids=True), Abilities()
SILENT = PacingPolicy(sending=SendingPolicy(typing=False))


def ref_of(*, category: Category = Category.UTILITY, message_id: UUID | None = None, round_: int = 1) -> MessageRef:
    return MessageRef(
        message_id=message_id or uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=category,
        correlation_id="c",
        round=round_,
    )


def attempt(plaintext: bytes, policy: PacingPolicy) -> Attempt:
    ref = ref_of()
    return Attempt(
        ref=ref,
        attempt=1,
        lease_token=uuid4(),
        started_at=NOW,
        leaves_at=NOW,
        deliver_until=NOW + timedelta(hours=1),
        sealed=KEYS.seal(plaintext, aad=ref.message_id.bytes),
        access=SealedAccess(
            number_id=ref.number_id, sealed=KEYS.seal(ACCESS.model_dump_json().encode(), aad=ref.number_id.bytes)
        ),
        recipient_hash="0" * 64,
        text_hash="0" * 64,
        policy=policy,
    )


async def opened(plaintext: bytes, *, policy: PacingPolicy = SILENT) -> Outbound:
    """What is handed to the gateway; no sender and no settling take part in it."""
    nobody = cast(Any, None)
    rules = Rules()
    carry_out = CarryOut(
        sender=nobody, keys=KEYS, book=LeaseBook(rules.lease), rules=rules, settling=nobody, dice=lambda: 0.0
    )
    return await carry_out._outbound(attempt(plaintext, policy))


def composed(
    text: str,
    part: Media | Buttons | ListMenu | None = None,
    *,
    policy: PacingPolicy = SILENT,
    abilities: Abilities = OLD,
    ref: MessageRef | None = None,
    dice: float = 0.0,
) -> Outbound:
    content = MessageContent(to=TO, text=text, part=part)
    return compose(content, ref=ref or ref_of(), access=DOOR, policy=policy, abilities=abilities, dice=dice)


@pytest.mark.parametrize(
    ("text", "part", "is_link"),
    [
        ("olá", None, False),
        ("veja https://example.com", None, True),
        ("legenda https://example.com", PICTURE, False),
        ("", Media(media_type=MediaType.VOICE, media="data:audio/ogg;base64,b2xh"), False),
        ("corpo", REPLIES, False),
        ("corpo", MENU, False),
    ],
)
async def test_every_kind_is_handed_on_whole(text: str, part: Media | Buttons | ListMenu | None, is_link: bool) -> None:
    content = MessageContent(to=TO, text=text, part=part)
    native = PacingPolicy(sending=SendingPolicy(typing=False, choices=ChoiceStyle.NATIVE))
    assert await opened(content.model_dump_json().encode(), policy=native) == Outbound(
        access=DOOR, recipient=TO, text=text, part=part, link_preview=is_link
    )


async def test_a_job_sealed_before_there_were_kinds_is_still_sent() -> None:
    sending = await opened(f'{{"to":"{TO}","kind":"text","text":"olá","sender":null}}'.encode())
    assert (sending.recipient, sending.text, sending.part) == (TO, "olá", None)


@pytest.mark.parametrize(
    ("style", "abilities", "is_plain"),
    [
        (ChoiceStyle.AUTO, OLD, True),
        (ChoiceStyle.AUTO, NEW, False),
        (ChoiceStyle.NATIVE, OLD, False),
        (ChoiceStyle.PLAIN, NEW, True),
    ],
)
@pytest.mark.parametrize("part", [REPLIES, MENU])
def test_choices_are_written_out_where_taps_do_not_show(
    part: Buttons | ListMenu, style: ChoiceStyle, abilities: Abilities, is_plain: bool
) -> None:
    policy = PacingPolicy(sending=SendingPolicy(choices=style))
    sending = composed("corpo", part, policy=policy, abilities=abilities)
    assert sending.part == (None if is_plain else part)
    expected = text_of(MessageContent(to=TO, text="corpo", part=part)) if is_plain else "corpo"
    assert sending.text == expected


@given(text=some.text(min_size=1, max_size=60), title=some.none() | some.sampled_from(["Oi", "*Oi*", "Oi *você*"]))
def test_what_is_written_out_is_what_it_is_recognised_by(text: str, title: str | None) -> None:
    part = Buttons(buttons=REPLIES.buttons, title=title, footer="fim")
    content = MessageContent(to=TO, text=text, part=part)
    assert text_key(composed(text, part).text) == text_key(text_of(content))


def test_a_picture_above_buttons_takes_the_words_as_its_caption_and_an_address_in_them_gets_a_preview() -> None:
    under_a_picture = composed("corpo", Buttons(buttons=REPLIES.buttons, header=PICTURE))
    assert (under_a_picture.part, under_a_picture.text) == (PICTURE, "corpo\n\n1. Sim\n2. Não")
    assert not under_a_picture.link_preview
    assert composed("corpo", Buttons(buttons=(UrlButton(label="Ver", url="https://example.com"),))).link_preview


@pytest.mark.parametrize(
    ("text", "fields", "dice", "expected"),
    [
        ("x" * 10, {}, 0.0, 400),
        ("x" * 10, {}, 0.5, 500),
        ("x" * 50, {}, 0.999, 2_999),
        ("x" * 4_096, {}, 0.0, 3_000),
        ("x" * 4_096, {"utility": Pace(min_ms=1_000, max_ms=9_000)}, 0.0, 500),
        ("x" * 50, {"utility": Pace(min_ms=0, max_ms=0)}, 0.9, 0),
        ("x" * 50, {"sending": SendingPolicy(typing=False)}, 0.9, 0),
        ("", {}, 0.9, 0),
    ],
)
def test_typing_is_as_long_as_a_hand_needs_within_the_gap(
    text: str, fields: Mapping[str, Any], dice: float, expected: int
) -> None:
    assert typing_ms(text, ref=ref_of(), policy=PacingPolicy(**fields), dice=dice) == expected


def test_nobody_types_a_code() -> None:
    assert typing_ms("código 123", ref=ref_of(category=Category.OTP), policy=PacingPolicy(), dice=0.9) == 0


def test_the_reserved_id_is_that_of_message_and_round_and_only_where_it_is_honoured() -> None:
    message_id = uuid4()
    ids = [
        composed("olá", abilities=NEW, ref=ref_of(message_id=message_id, round_=round_), dice=dice).reserved_id
        for round_, dice in ((1, 0.1), (1, 0.9), (2, 0.1))
    ]
    assert ids[0] is not None
    assert (ids[0] == ids[1], ids[0] == ids[2]) == (True, False)
    assert composed("olá", abilities=OLD).reserved_id is None
    never = PacingPolicy(sending=SendingPolicy(reserve_ids=False))
    always = PacingPolicy(sending=SendingPolicy(reserve_ids=True))
    assert composed("olá", policy=never, abilities=NEW).reserved_id is None
    assert composed("olá", policy=always, abilities=OLD).reserved_id is not None
