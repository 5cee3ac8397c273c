"""The ledger is the truth: durable before the answer, whole after SIGKILL, continued by the next run."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from evolution_simulator.testing import SimulatorProcess, WebhookReceiver, until

SENDERS = 8


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "ledger.jsonl"


@pytest.fixture
async def mortal(ledger: Path, receiver: WebhookReceiver) -> AsyncIterator[SimulatorProcess]:
    settings = {"server_ack_ms": 10, "delivery_ack_ms": 20, "read_ms": 400, "shutdown_seconds": 1}
    instances = ["shop:shop-token"]
    async with SimulatorProcess(ledger, instances=instances, webhook=receiver.url, settings=settings) as process:
        yield process


def whole_rows(ledger: Path) -> list[dict[str, Any]]:
    lines = ledger.read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


async def send_until_it_dies(mortal: SimulatorProcess, sender: int, told: set[str]) -> None:
    for turn in range(10_000):
        body = {"number": f"55119{sender:04d}{turn:04d}", "text": f"{sender}-{turn}"}
        try:
            answer = await mortal.client.post("/message/sendText/shop", json=body)
        except httpx.TransportError:
            return
        told.add(answer.json()["key"]["id"])


async def test_sigkill_under_load_loses_nothing_that_was_answered(mortal: SimulatorProcess, ledger: Path) -> None:
    told: set[str] = set()
    senders = [asyncio.create_task(send_until_it_dies(mortal, sender, told)) for sender in range(SENDERS)]

    async def enough() -> bool:
        return len(told) >= 100

    await until(enough)
    await mortal.kill()
    await asyncio.gather(*senders)
    kept = whole_rows(ledger)
    assert told <= {row["key_id"] for row in kept}
    assert len(kept) - len(told) <= SENDERS
    assert [row["seq"] for row in kept] == list(range(1, len(kept) + 1))

    await mortal.start()
    assert len(await mortal.ledger()) == len(kept)
    body = {"where": {"key": {"fromMe": True}}, "page": 1, "offset": 10_000}
    found = (await mortal.client.post("/chat/findMessages/shop", json=body)).json()["messages"]
    assert told <= {record["key"]["id"] for record in found["records"]}
    await mortal.client.post("/message/sendText/shop", json={"number": "5511900000001", "text": "next"})
    [row] = await mortal.ledger(since_seq=len(kept))
    assert (row["seq"], row["text"]) == (len(kept) + 1, "next")


async def test_a_torn_last_line_is_cut_off(mortal: SimulatorProcess, ledger: Path) -> None:
    await mortal.client.post("/message/sendText/shop", json={"number": "5511900000001", "text": "whole"})
    await mortal.kill()
    with ledger.open("ab") as file:
        file.write(b'{"seq":2,"at":"2026')
    await mortal.start()
    await mortal.client.post("/message/sendText/shop", json={"number": "5511900000001", "text": "after"})
    assert [row["text"] for row in whole_rows(ledger)] == ["whole", "after"]


async def test_receipts_owed_at_the_crash_come_after_the_restart(
    mortal: SimulatorProcess, receiver: WebhookReceiver
) -> None:
    await mortal.client.post("/message/sendText/shop", json={"number": "5511900000001", "text": "x"})
    await receiver.wait_for(3)
    await mortal.kill()
    await mortal.start()
    calls = await receiver.wait_for(4)
    await mortal.settled()
    assert [call.body["data"]["status"] for call in calls] == ["PENDING", "SERVER_ACK", "DELIVERY_ACK", "READ"]
    assert len(receiver.received) == 4


async def test_receipts_that_were_never_due_do_not_come(mortal: SimulatorProcess, receiver: WebhookReceiver) -> None:
    await mortal.put_script(match={}, receipts="none")
    await mortal.client.post("/message/sendText/shop", json={"number": "5511900000001", "text": "x"})
    await receiver.wait_for(1)
    await mortal.kill()
    await mortal.start()
    await mortal.settled()
    assert len(receiver.received) == 1


async def test_instances_and_webhooks_survive_a_restart(mortal: SimulatorProcess) -> None:
    created = await mortal.client.post("/instance/create", json={"instanceName": "later", "token": "t"})
    body = {"webhook": {"enabled": True, "url": "http://127.0.0.1:9/x", "events": ["SEND_MESSAGE"]}}
    kept = (await mortal.client.post("/webhook/set/later", json=body)).json()
    assert created.status_code == 201
    assert await mortal.stop() == 0
    await mortal.start()
    assert (await mortal.client.get("/webhook/find/later", headers={"apikey": "t"})).json() == kept


async def test_a_caller_left_hanging_sees_the_stop_as_a_reset(mortal: SimulatorProcess) -> None:
    await mortal.put_script(send=[{"act": "accept_then_hang", "seconds": 60}])
    body = {"number": "5511900000001", "text": "x"}
    hanging = asyncio.create_task(mortal.client.post("/message/sendText/shop", json=body))

    async def accepted() -> bool:
        return len(await mortal.ledger()) == 1

    await until(accepted)
    assert await mortal.stop() == 0
    with pytest.raises(httpx.ReadError):
        await hanging


async def test_hundreds_of_sends_share_their_fsyncs(mortal: SimulatorProcess, ledger: Path) -> None:
    async def send(serial: int) -> int:
        body = {"number": f"55119{serial:08d}", "text": "x"}
        return (await mortal.client.post("/message/sendText/shop", json=body)).status_code

    await mortal.put_script(receipts={"statuses": [], "echo": "off"})
    assert await asyncio.gather(*map(send, range(150))) == [201] * 150
    assert [row["seq"] for row in whole_rows(ledger)] == list(range(1, 151))
