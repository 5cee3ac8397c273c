"""A gateway that is down, comes back, has forgotten, and needs a while: each part alone, on a process of its own."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from evolution_simulator.testing import SimulatorProcess, WebhookReceiver, until
from gateways.evolution import EvolutionInspector, EvolutionLookup, EvolutionSender
from gateways.port import Abilities, Access, ConnectionState, NotSent, NotSentReason, Outbound, Taken, Unknown

NUMBER = "5511900000001"
QUICK = {"server_ack_ms": 20, "delivery_ack_ms": 40, "read_ms": 60}
RESERVED = "3EB00123456789ABCDEF01"


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with WebhookReceiver() as listening:
        yield listening


@pytest.fixture
async def gateway(tmp_path: Path, receiver: WebhookReceiver) -> AsyncIterator[SimulatorProcess]:
    ledger = tmp_path / "ledger.jsonl"
    async with SimulatorProcess(ledger, instances=["shop:t"], webhook=receiver.url, settings=QUICK) as process:
        yield process


@pytest.fixture
async def new_gateway(tmp_path: Path) -> AsyncIterator[SimulatorProcess]:
    settings = {**QUICK, "version": "2.4.0"}
    async with SimulatorProcess(tmp_path / "ledger.jsonl", instances=["shop:t"], settings=settings) as process:
        yield process


def access(gateway: SimulatorProcess) -> Access:
    return Access(base_url=gateway.url, api_key=gateway.api_key, instance="shop")


def outbound(gateway: SimulatorProcess, **more: str) -> Outbound:
    return Outbound(access=access(gateway), recipient=NUMBER, text="ola", **more)  # type: ignore[arg-type]


async def stored(gateway: SimulatorProcess) -> int:
    answer = await gateway.client.post("/chat/findMessages/shop", json={"where": {}})
    total: int = answer.json()["messages"]["total"]
    return total


async def test_case_38d_while_the_door_is_closed_connections_are_refused_and_then_taken_again(
    gateway: SimulatorProcess,
) -> None:
    async with EvolutionSender() as sender:
        await gateway.close_door(1.5)
        answered = await sender.send(outbound(gateway))
        assert answered == NotSent(reason=NotSentReason.UNREACHABLE, detail="ConnectError")

        async def is_taken() -> bool:
            return isinstance(await sender.send(outbound(gateway)), Taken)

        await until(is_taken)
    assert len(await gateway.ledger()) == 1


async def test_what_is_under_way_when_memory_is_lost_is_unknown_and_was_not_sent(gateway: SimulatorProcess) -> None:
    await gateway.put_script(match={"number": NUMBER}, send=[{"act": "slow", "ms": 60_000}, "accept"])
    async with EvolutionSender() as sender:
        sending = asyncio.create_task(sender.send(outbound(gateway)))

        async def is_under_way() -> bool:
            acts: dict[str, int] = (await gateway.client.get("/simulator/counters")).json()["acts"]
            return acts.get("slow") == 1

        await until(is_under_way)
        await gateway.lose_memory()
        assert isinstance(await sending, Unknown)
        assert isinstance(await sender.send(outbound(gateway)), Taken), "scripts stay"
    assert [row["outcome"] for row in await gateway.ledger()] == ["accept"]


async def test_numbers_load_one_after_the_restart(gateway: SimulatorProcess) -> None:
    await gateway.lose_memory(loading_seconds=1.0)
    async with EvolutionSender() as sender, EvolutionLookup() as lookup:
        answered = await sender.send(outbound(gateway))
        assert isinstance(answered, NotSent)
        assert answered.reason is NotSentReason.INSTANCE_NOT_READY
        assert await lookup.connection_state(access(gateway)) is ConnectionState.CONNECTING

        async def is_open() -> bool:
            return await lookup.connection_state(access(gateway)) is ConnectionState.OPEN

        await until(is_open)
        assert isinstance(await sender.send(outbound(gateway)), Taken)


async def test_a_forgotten_message_is_not_found_and_its_receipts_never_come(
    gateway: SimulatorProcess, receiver: WebhookReceiver
) -> None:
    await gateway.put_script(match={}, receipts={"delays_ms": {"SERVER_ACK": 60_000, "DELIVERY_ACK": 60_000}})
    async with EvolutionSender() as sender:
        assert isinstance(await sender.send(outbound(gateway)), Taken)
    await receiver.wait_for(2)  # the echo, and READ which came first
    assert await stored(gateway) == 1
    await gateway.lose_memory(forget_messages=True)
    assert await stored(gateway) == 0
    await gateway.settled()
    assert len(await gateway.ledger()) == 1, "the truth is not forgotten"


async def test_receipts_that_whatsapp_owed_come_after_the_restart(
    gateway: SimulatorProcess, receiver: WebhookReceiver
) -> None:
    await gateway.put_script(match={}, receipts={"delays_ms": {"READ": 60_000}})
    async with EvolutionSender() as sender:
        assert isinstance(await sender.send(outbound(gateway)), Taken)
    await receiver.wait_for(3)
    await gateway.lose_memory()
    calls = await receiver.wait_for(4)
    assert calls[-1].body["data"]["status"] == "READ"


async def test_a_webhook_that_was_to_be_retried_is_lost_with_the_memory(
    gateway: SimulatorProcess, receiver: WebhookReceiver
) -> None:
    receiver.answers.append(500)
    await gateway.put_script(match={}, receipts="none")
    async with EvolutionSender() as sender:
        assert isinstance(await sender.send(outbound(gateway)), Taken)
    await receiver.wait_for(1)
    await gateway.lose_memory()
    await gateway.settled()
    assert len(receiver.received) == 1


async def test_down_and_back_with_another_client_connected(gateway: SimulatorProcess) -> None:
    await gateway.lose_memory(down_seconds=0.5)
    began = time.monotonic()
    with pytest.raises(httpx.TransportError):
        await gateway.client.get("/")

    async def answers() -> bool:
        try:
            return (await gateway.client.get("/")).is_success
        except httpx.TransportError:
            return False

    await until(answers)
    assert time.monotonic() - began >= 0.2


async def test_an_older_gateway_ignores_a_chosen_id(gateway: SimulatorProcess) -> None:
    async with EvolutionSender() as sender, EvolutionInspector() as inspector:
        assert await inspector.abilities(access(gateway)) == Abilities()
        answered = await sender.send(outbound(gateway, reserved_id=RESERVED))
    assert isinstance(answered, Taken)
    assert (answered.id_honoured, answered.key_id == RESERVED) == (False, False)


async def test_a_newer_gateway_honours_it_and_a_resend_is_the_same_message_to_whatsapp(
    new_gateway: SimulatorProcess,
) -> None:
    async with EvolutionSender() as sender, EvolutionInspector() as inspector, EvolutionLookup() as lookup:
        abilities = await inspector.abilities(access(new_gateway))
        assert abilities == Abilities(native_choices=True, reserved_ids=True)
        assert await lookup.sent_message(access(new_gateway), key_id=RESERVED) is None
        for _ in range(2):
            answered = await sender.send(outbound(new_gateway, reserved_id=RESERVED))
            assert answered == Taken(key_id=RESERVED, recipient=NUMBER, id_honoured=True)
        found = await lookup.sent_message(access(new_gateway), key_id=RESERVED)
    assert found is not None
    assert (found.recipient, found.text) == (NUMBER, "ola")
    assert [row["key_id"] for row in await new_gateway.ledger()] == [RESERVED] * 2
    assert await stored(new_gateway) == 2, "the gateway itself drops nothing"
