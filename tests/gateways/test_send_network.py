"""What the network does to a send, on a real socket, and what may be claimed after it."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator

import pytest
from tests.gateways.conftest import KEY, ScriptedGateway, answer, drip, raw_then_hang, raw_then_reset

from gateways.evolution import EvolutionSender, Timeouts
from gateways.port import Access, NotSent, NotSentReason, Outbound, Taken, Unknown, UnknownReason

RECIPIENT = "5547991234567"
CREATED = {
    "key": {"remoteJid": f"{RECIPIENT}@s.whatsapp.net", "fromMe": True, "id": "3EB0AA"},
    "status": "PENDING",
    "message": {"conversation": "ola"},
}
SHORT = Timeouts(
    connect_seconds=0.3,
    write_seconds=0.3,
    read_seconds=0.3,
    presence_seconds_min=0.2,
    presence_seconds_max=0.3,
    query_seconds=0.3,
)


@pytest.fixture
async def sender() -> AsyncIterator[EvolutionSender]:
    async with EvolutionSender(timeouts=SHORT) as opened:
        yield opened


def outbound(access: Access, **more: object) -> Outbound:
    fields: dict[str, object] = {"recipient": RECIPIENT, "text": "ola çã 👩‍👩‍👧", **more}
    return Outbound(access=access, **fields)  # type: ignore[arg-type]


async def test_case_38d_a_refused_connection_is_not_sent(sender: EvolutionSender) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        access = Access(base_url=f"http://127.0.0.1:{held.getsockname()[1]}", api_key=KEY, instance="shop")
        answered = await sender.send(outbound(access))
    assert answered == NotSent(reason=NotSentReason.UNREACHABLE, detail="ConnectError")


async def test_case_38e_a_name_that_does_not_resolve_is_not_sent(sender: EvolutionSender) -> None:
    access = Access(base_url="http://gateway.invalid", api_key=KEY, instance="shop")
    answered = await sender.send(outbound(access))
    assert isinstance(answered, NotSent)
    assert answered.reason is NotSentReason.UNREACHABLE


async def test_a_full_backlog_is_a_connect_timeout_and_not_sent(sender: EvolutionSender) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = deaf.getsockname()
        queued = [_connect_without_waiting(address) for _ in range(4)]
        access = Access(base_url=f"http://127.0.0.1:{address[1]}", api_key=KEY, instance="shop")
        answered = await sender.send(outbound(access))
        for each in queued:
            each.close()
    assert answered == NotSent(reason=NotSentReason.UNREACHABLE, detail="ConnectTimeout")


async def test_tls_that_fails_before_the_request_is_not_sent(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [answer(201, CREATED)]
    access = Access(base_url=gateway.base_url.replace("http:", "https:"), api_key=KEY, instance="shop")
    answered = await sender.send(outbound(access))
    assert isinstance(answered, NotSent)
    assert gateway.seen == []


@pytest.mark.parametrize("partial", [b"", b"HTTP/1.1 20", b"HTTP/1.1 201 Created\r\ncontent-le"])
async def test_case_38c_a_reset_after_the_request_is_unknown(
    gateway: ScriptedGateway, sender: EvolutionSender, partial: bytes
) -> None:
    gateway.script = [raw_then_reset(partial)]
    answered = await sender.send(outbound(gateway.access()))
    assert isinstance(answered, Unknown)
    assert answered.reason is UnknownReason.CONNECTION_LOST
    assert len(gateway.seen) == 1


async def test_case_38c_a_reset_inside_the_key_is_unknown(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [raw_then_hang(b'HTTP/1.1 201 Created\r\ncontent-length: 500\r\n\r\n{"key":{"remoteJ')]
    answered = await sender.send(outbound(gateway.access()))
    assert answered == Unknown(reason=UnknownReason.UNREADABLE_ANSWER, detail="HTTP 201 without a message key")


async def test_a_key_that_arrived_before_the_line_went_dead_is_proof(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    begun = json.dumps(CREATED).encode()[:-10]
    gateway.script = [raw_then_hang(b"HTTP/1.1 201 Created\r\ncontent-length: 5000\r\n\r\n" + begun)]
    assert await sender.send(outbound(gateway.access())) == Taken(key_id="3EB0AA", recipient=RECIPIENT)


async def test_an_answer_beyond_the_limit_is_cut_and_its_key_still_read(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [answer(201, {**CREATED, "message": {"jpegThumbnail": "x" * 300_000}})]
    assert await sender.send(outbound(gateway.access())) == Taken(key_id="3EB0AA", recipient=RECIPIENT)


async def test_case_39_silence_is_unknown_after_the_read_timeout(
    gateway: ScriptedGateway, sender: EvolutionSender
) -> None:
    gateway.script = [raw_then_hang()]
    began = time.monotonic()
    answered = await sender.send(outbound(gateway.access()))
    assert answered == Unknown(reason=UnknownReason.TIMEOUT, detail="ReadTimeout")
    assert 0.25 <= time.monotonic() - began < 2


async def test_a_dripping_answer_cannot_stretch_the_call(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [drip()]
    began = time.monotonic()
    answered = await sender.send(outbound(gateway.access()))
    assert answered == Unknown(reason=UnknownReason.TIMEOUT, detail="TimeoutError")
    assert time.monotonic() - began < 0.9 + 1


async def test_a_cancelled_send_stays_cancelled(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [raw_then_hang()]
    async with asyncio.timeout(5):
        task = asyncio.create_task(sender.send(outbound(gateway.access(), typing_ms=0)))
        await gateway.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_concurrent_sends_do_not_wait_for_each_other(gateway: ScriptedGateway, sender: EvolutionSender) -> None:
    gateway.script = [raw_then_hang()]
    began = time.monotonic()
    answers = await asyncio.gather(*(sender.send(outbound(gateway.access())) for _ in range(20)))
    assert {type(each) for each in answers} == {Unknown}
    assert time.monotonic() - began < 2


def _connect_without_waiting(address: tuple[str, int]) -> socket.socket:
    connecting = socket.socket()
    connecting.setblocking(False)
    connecting.connect_ex(address)
    return connecting
