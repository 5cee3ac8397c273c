"""What a send puts on the wire, and what it refuses to."""

import time
from collections.abc import AsyncIterator

import pytest
from tests.gateways.conftest import KEY, Behaviour, ScriptedGateway, answer, drip, raw_then_hang, raw_then_reset

from gateways.evolution import EvolutionSender, Timeouts
from gateways.port import Access, NotSent, NotSentReason, Outbound, Refused, Taken, Unknown

RECIPIENT = "5547991234567"
CREATED = {
    "key": {"remoteJid": f"{RECIPIENT}@s.whatsapp.net", "fromMe": True, "id": "3EB0AA"},
    "status": "PENDING",
    "message": {"conversation": "ola"},
}
PATIENT = Timeouts(presence_seconds_min=0.2, presence_seconds_max=0.3)
"""Only a presence that hangs is given up soon: a busy machine must not look like a gateway that does not answer."""


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender(timeouts=PATIENT) as opened:
        yield opened


def outbound(access: Access, **more: object) -> Outbound:
    fields: dict[str, object] = {"recipient": RECIPIENT, "text": "ola çã 👩‍👩‍👧", **more}
    return Outbound(access=access, **fields)  # type: ignore[arg-type]


async def test_case_37_201_is_taken_and_the_request_is_what_evolution_wants(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [answer(201, CREATED)]
    assert await sender.send(outbound(gateway.access())) == Taken(key_id="3EB0AA", recipient=RECIPIENT)
    (seen,) = gateway.seen
    assert (seen.method, seen.target) == ("POST", "/message/sendText/shop")
    assert seen.headers["apikey"] == KEY
    assert seen.headers["content-type"] == "application/json"
    assert seen.json() == {"number": RECIPIENT, "text": "ola çã 👩‍👩‍👧", "linkPreview": False}


async def test_case_39_delay_is_never_given_to_the_gateway(gateway: ScriptedGateway) -> None:
    gateway.script = [answer(201, {"presence": "composing"}), answer(201, CREATED)]
    async with EvolutionSender() as sender:
        assert isinstance(await sender.send(outbound(gateway.access(), typing_ms=100, link_preview=True)), Taken)
    presence, send = gateway.seen
    assert presence.target == "/chat/sendPresence/shop"
    assert presence.json().keys() == {"number", "presence", "delay"}
    assert send.json() == {"number": RECIPIENT, "text": "ola çã 👩‍👩‍👧", "linkPreview": True}


async def test_every_send_opens_its_own_connection(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(201, CREATED)]
    for _ in range(3):
        assert isinstance(await sender.send(outbound(gateway.access())), Taken)
    assert [seen.connection for seen in gateway.seen] == [1, 2, 3]


async def test_the_instance_is_quoted_and_a_base_path_kept(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(201, CREATED)]
    access = Access(base_url=f"{gateway.base_url}/evo/?instanceName=other", api_key=KEY, instance="a/b ?c#é")
    assert isinstance(await sender.send(outbound(access)), Taken)
    assert gateway.seen[0].target == "/evo/message/sendText/a%2Fb%20%3Fc%23%C3%A9"


async def test_case_40_a_redirect_is_not_followed(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(307, b"", headers={"location": f"{gateway.base_url}/elsewhere"}), answer(201, CREATED)]
    answered = await sender.send(outbound(gateway.access()))
    assert isinstance(answered, Unknown)
    assert len(gateway.seen) == 1


async def test_case_40_retry_after_travels_from_the_header(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(429, {"error": "slow down"}, headers={"Retry-After": "1.5"})]
    answered = await sender.send(outbound(gateway.access()))
    assert answered == NotSent(reason=NotSentReason.RATE_LIMITED, detail="HTTP 429", retry_after_seconds=1.5)


@pytest.mark.parametrize("base_url", ["", "gateway", "ftp://127.0.0.1", "http://", "http://[::1", "http://h:99999"])
async def test_an_unusable_address_is_not_sent(sender: EvolutionSender, base_url: str) -> None:
    answered = await sender.send(outbound(Access(base_url=base_url, api_key=KEY, instance="shop")))
    assert isinstance(answered, NotSent)
    assert answered.reason is NotSentReason.UNREACHABLE


@pytest.mark.parametrize(("instance", "api_key"), [("..", KEY), ("", KEY), ("shop", "a\r\nx: y"), ("shop", "ключ")])
async def test_an_unusable_instance_or_key_is_not_sent(
    gateway: ScriptedGateway, sender: EvolutionSender, instance: str, api_key: str
) -> None:
    gateway.script = [answer(201, CREATED)]
    answered = await sender.send(outbound(Access(base_url=gateway.base_url, api_key=api_key, instance=instance)))
    assert isinstance(answered, NotSent)
    assert api_key not in answered.detail
    assert gateway.seen == []


@pytest.mark.parametrize(
    "recipient", ["+5547991234567", "status@broadcast", "120363000000000000", "100000000000001@lid", "", "٥٥٤٧٩٩١٢٣٤"]
)
async def test_case_19_case_21_only_bare_phone_digits_leave(
    gateway: ScriptedGateway, sender: EvolutionSender, recipient: str
) -> None:
    gateway.script = [answer(201, CREATED)]
    assert isinstance(await sender.send(outbound(gateway.access(), recipient=recipient)), Refused)
    assert gateway.seen == []


async def test_case_10_half_an_emoji_is_refused_before_the_call(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [answer(201, CREATED)]
    assert isinstance(await sender.send(outbound(gateway.access(), text="cut \ud83d")), Refused)
    assert gateway.seen == []


@pytest.mark.parametrize("presence", [raw_then_hang(), drip(), raw_then_reset(b""), answer(400, {"message": "no"})])
async def test_trouble_with_presence_never_touches_the_send(
    gateway: ScriptedGateway, sender: EvolutionSender, presence: Behaviour
) -> None:
    gateway.script = [presence, answer(201, CREATED)]
    began = time.monotonic()
    assert isinstance(await sender.send(outbound(gateway.access(), typing_ms=50)), Taken)
    assert time.monotonic() - began < 10
    assert len(gateway.seen) == 2


def test_the_bounds_of_a_call_follow_its_typing() -> None:
    sender = EvolutionSender()
    access = Access(base_url="http://127.0.0.1:1", api_key=KEY, instance="shop")
    assert sender.call_seconds_max(outbound(access)) == 2 + 5 + 20
    assert sender.call_seconds_max(outbound(access, typing_ms=3_000)) == 4 + 2 + 5 + 23
    assert sender.call_seconds_max(outbound(access, typing_ms=60_000)) == 5 + 2 + 5 + 80


def test_nothing_private_is_in_the_repr_of_a_call() -> None:
    shown = repr(outbound(Access(base_url="http://127.0.0.1:1", api_key=KEY, instance="shop")))
    for secret in (RECIPIENT, "ola", KEY):
        assert secret not in shown
