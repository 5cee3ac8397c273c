"""Scripted misbehaviour, seen by a real client over a real connection, and what the ledger says of each act."""

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from evolution_simulator.scripts import Script, step_at
from evolution_simulator.testing import SimulatorProcess, WebhookReceiver, until


async def send(simulator: SimulatorProcess, instance: str, number: str) -> httpx.Response:
    return await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})


async def outcomes(simulator: SimulatorProcess, instance: str) -> list[str]:
    return [row["outcome"] for row in await simulator.ledger(instance=instance)]


@pytest.mark.parametrize(
    ("step", "status", "message"),
    [
        ("refuse_schema", 400, [['instance requires property "text"']]),
        ("error_500", 500, "Connection Closed"),
        ({"act": "error_500", "message": "Timed Out"}, 500, "Timed Out"),
        ("error_400_closed", 400, ["Error: Connection Closed"]),
        ({"act": "rate_limited_429", "retry_after": "7"}, 429, ["Too many requests"]),
    ],
)
async def test_refusals_are_not_in_the_ledger(
    simulator: SimulatorProcess, instance: str, number: str, step: Any, status: int, message: Any
) -> None:
    await simulator.put_script(match={"number": number}, send=[step])
    answer = await send(simulator, instance, number)
    assert (answer.status_code, answer.json()["response"]["message"]) == (status, message)
    assert answer.headers.get("retry-after") == ("7" if status == 429 else None)
    assert await outcomes(simulator, instance) == []


async def test_not_on_whatsapp(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"number": number}, send=["refuse_not_exists"])
    answer = await send(simulator, instance, number)
    refused = {"jid": f"{number}@s.whatsapp.net", "exists": False, "number": number}
    assert (answer.status_code, answer.json()["response"]["message"]) == (400, [refused])
    assert await outcomes(simulator, instance) == []


async def test_html_502_is_no_json(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"number": number}, send=["html_502"])
    answer = await send(simulator, instance, number)
    assert (answer.status_code, answer.headers["content-type"]) == (502, "text/html; charset=utf-8")


@pytest.mark.parametrize(("act", "accepted"), [("reset_before", []), ("accept_then_reset", ["accept_then_reset"])])
async def test_a_reset_is_a_real_rst_without_a_byte(
    simulator: SimulatorProcess, instance: str, number: str, act: str, accepted: list[str]
) -> None:
    await simulator.put_script(match={"number": number}, send=[act])
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    body = json.dumps({"number": number, "text": "x"}).encode()
    head = f"POST /message/sendText/{instance} HTTP/1.1\r\nhost: x\r\napikey: {simulator.api_key}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    assert await outcomes(simulator, instance) == accepted


async def test_httpx_sees_a_reset_as_read_error(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"number": number}, send=["accept_then_reset", "accept"])
    with pytest.raises(httpx.ReadError):
        await send(simulator, instance, number)
    assert (await send(simulator, instance, number)).status_code == 201
    assert await outcomes(simulator, instance) == ["accept_then_reset", "accept"]


@pytest.mark.parametrize(("act", "accepted"), [("hang", []), ("accept_then_hang", ["accept_then_hang"])])
async def test_hanging(simulator: SimulatorProcess, instance: str, number: str, act: str, accepted: list[str]) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": act, "seconds": 20}])
    body = {"number": number, "text": "x"}
    with pytest.raises(httpx.ReadTimeout):
        await simulator.client.post(f"/message/sendText/{instance}", json=body, timeout=0.3)
    assert await outcomes(simulator, instance) == accepted


async def test_a_finished_hang_answers_late(simulator: SimulatorProcess, instance: str, number: str) -> None:
    steps = [{"act": "accept_then_hang", "seconds": 0.1}, {"act": "hang", "seconds": 0.1}]
    await simulator.put_script(match={"number": number}, send=steps)
    assert (await send(simulator, instance, number)).status_code == 201
    with pytest.raises(httpx.ReadError):
        await send(simulator, instance, number)


async def test_slow_is_accepted_after_the_wait(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": "slow", "ms": 250}])
    started = time.monotonic()
    assert (await send(simulator, instance, number)).status_code == 201
    assert time.monotonic() - started >= 0.25


async def test_an_abandoned_slow_send_goes_on(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": "slow", "ms": 200}])
    body = {"number": number, "text": "x"}
    with pytest.raises(httpx.ReadTimeout):
        await simulator.client.post(f"/message/sendText/{instance}", json=body, timeout=0.05)

    async def accepted() -> bool:
        return await outcomes(simulator, instance) == ["slow"]

    await until(accepted)


async def test_500_after_the_send_has_echo_and_receipts(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": "error_500_after_send", "message": "boom"}])
    answer = await send(simulator, instance, number)
    assert (answer.status_code, answer.json()["response"]["message"]) == (500, "boom")
    calls = await receiver.wait_for(4)
    assert calls[0].body["event"] == "send.message"
    assert await outcomes(simulator, instance) == ["error_500_after_send"]


async def test_prisma_400_was_sent_but_leaves_no_trace(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await simulator.put_script(match={"number": number}, send=["error_400_prisma_after_send"])
    answer = await send(simulator, instance, number)
    [text] = answer.json()["response"]["message"]
    assert answer.status_code == 400
    assert "PrismaClient" in text
    assert "message.create()" in text
    await simulator.settled()
    found = await simulator.client.post(f"/chat/findMessages/{instance}", json={"where": {}})
    assert (found.json()["messages"]["total"], receiver.received) == (0, [])
    assert await outcomes(simulator, instance) == ["error_400_prisma_after_send"]


async def test_the_most_specific_script_wins(simulator: SimulatorProcess, instance: str, number: str) -> None:
    await simulator.put_script(match={}, send=["html_502"])
    await simulator.put_script(match={"instance": instance}, send=["error_500"])
    assert (await send(simulator, instance, number)).status_code == 500
    await simulator.put_script(match={"number": number}, send=["error_400_closed"])
    assert (await send(simulator, instance, number)).status_code == 400
    await simulator.put_script(match={"instance": instance, "number": number}, send=["rate_limited_429"])
    assert (await send(simulator, instance, number)).status_code == 429
    assert (await send(simulator, "fixed", "5511900000098")).status_code == 502
    await simulator.client.delete("/simulator/script")
    assert (await send(simulator, instance, number)).status_code == 201


async def test_invalid_script_is_422_and_counters_tell_what_happened(
    simulator: SimulatorProcess, instance: str, number: str
) -> None:
    refused = await simulator.client.put("/simulator/script", json={"send": ["explode"]})
    assert refused.status_code == 422
    before = (await simulator.client.get("/simulator/counters")).json()["acts"].get("html_502", 0)
    await simulator.put_script(match={"number": number}, send=["html_502"])
    await send(simulator, instance, number)
    assert (await simulator.client.get("/simulator/counters")).json()["acts"]["html_502"] == before + 1


@pytest.mark.parametrize(
    ("script", "acts"),
    [
        ({"send": []}, ["accept"] * 3),
        ({"send": ["hang", "slow"]}, ["hang", "slow", "slow", "slow"]),
        ({"send": [{"act": "hang", "times": 2}, "slow"]}, ["hang", "hang", "slow", "slow"]),
        ({"send": ["slow", {"act": "hang", "times": 2}]}, ["slow", "hang", "hang", "accept", "accept"]),
        ({"send": ["slow", "hang"], "cycle": True}, ["slow", "hang", "slow", "hang", "slow"]),
    ],
)
def test_order_of_steps(script: dict[str, Any], acts: list[str]) -> None:
    parsed = Script.model_validate(script)
    assert [step_at(parsed, position).act for position in range(len(acts))] == acts


async def test_per_number_counts_each_by_itself(simulator: SimulatorProcess, instance: str) -> None:
    await simulator.put_script(match={"instance": instance}, send=["error_500", "accept"], per_number=True)
    numbers = ["5511900000081", "5511900000082"]
    statuses = [(await send(simulator, instance, each)).status_code for each in numbers * 2]
    assert statuses == [500, 500, 201, 201]


async def test_a_script_may_begin_the_id_of_what_is_accepted(
    simulator: SimulatorProcess, instance: str, number: str
) -> None:
    await simulator.put_script(match={"number": number}, send=[{"act": "accept", "key_prefix": "AC/DC/"}])
    ids = [(await send(simulator, instance, number)).json()["key"]["id"] for _ in range(2)]
    assert all(key_id.startswith("AC/DC/") for key_id in ids)
    assert ids == [row["key_id"] for row in await simulator.ledger(instance=instance)]
    assert ids[0] != ids[1]
