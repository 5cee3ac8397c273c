"""A sealed content of any kind is handed to the gateway whole, and an address in a text asks for its preview."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest

from chassis.seal import KeyRing
from contracts.parts import Buttons, ListMenu, Media, MediaType, ReplyButton, Row, Section
from contracts.values import Category, Environment, GatewayAccess, MessageContent, MessageRef
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.domain.rules import Rules
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.leases import LeaseBook
from gateways.port import Access, Outbound

KEYS = KeyRing.parse(f"k1:{base64.b64encode(b'k' * 32).decode()}")
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TO = "5511912345678"
ACCESS = GatewayAccess(base_url="http://127.0.0.1:1", api_key="key")
ROWS = (Row(title="Um", row_id="1"),)


def attempt(plaintext: bytes) -> Attempt:
    ref = MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="c",
    )
    sealed_access = KEYS.seal(ACCESS.model_dump_json().encode(), aad=ref.number_id.bytes)
    return Attempt(
        ref=ref,
        attempt=1,
        lease_token=uuid4(),
        started_at=NOW,
        deliver_until=NOW + timedelta(hours=1),
        sealed=KEYS.seal(plaintext, aad=ref.message_id.bytes),
        access=SealedAccess(number_id=ref.number_id, sealed=sealed_access),
        recipient_hash="0" * 64,
        text_hash="0" * 64,
    )


def outbound_of(plaintext: bytes) -> Outbound:
    """What is handed to the gateway; no sender and no settling take part in it."""
    nobody = cast(Any, None)
    rules = Rules()
    carry_out = CarryOut(
        sender=nobody, keys=KEYS, book=LeaseBook(rules.lease), rules=rules, settling=nobody, dice=lambda: 0.0
    )
    return carry_out._outbound(attempt(plaintext))


@pytest.mark.parametrize(
    ("text", "part", "is_link"),
    [
        ("olá", None, False),
        ("veja https://example.com", None, True),
        ("legenda https://example.com", Media(media_type=MediaType.IMAGE, media="https://example.com/a.png"), False),
        ("", Media(media_type=MediaType.VOICE, media="data:audio/ogg;base64,b2xh"), False),
        ("corpo", Buttons(buttons=(ReplyButton(label="Sim", id="1"),), title="Oi"), False),
        ("corpo", ListMenu(button_text="Abrir", sections=(Section(title="Tudo", rows=ROWS),)), False),
    ],
)
def test_every_kind_is_handed_on_whole(text: str, part: Media | Buttons | ListMenu | None, is_link: bool) -> None:
    content = MessageContent(to=TO, text=text, part=part)
    assert outbound_of(content.model_dump_json().encode()) == Outbound(
        access=Access(base_url=ACCESS.base_url, api_key=ACCESS.api_key, instance="loja"),
        recipient=TO,
        text=text,
        part=part,
        link_preview=is_link,
    )


def test_a_job_sealed_before_there_were_kinds_is_still_sent() -> None:
    sending = outbound_of(f'{{"to":"{TO}","kind":"text","text":"olá","sender":null}}'.encode())
    assert (sending.recipient, sending.text, sending.part) == (TO, "olá", None)
