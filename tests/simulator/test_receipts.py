"""Which receipts follow and when: the plan as a table, and the disorders as a receiver meets them."""

import random
from typing import Any

import pytest

from evolution_simulator.receipts import plan
from evolution_simulator.scripts import Receipts, Status
from evolution_simulator.testing import SimulatorProcess, WebhookReceiver

DELAYS = {
    Status.ERROR: 100,
    Status.SERVER_ACK: 100,
    Status.DELIVERY_ACK: 200,
    Status.READ: 300,
    Status.PLAYED: 400,
}


@pytest.mark.parametrize(
    ("receipts", "expected"),
    [
        ({}, [(100, "SERVER_ACK", 1), (200, "DELIVERY_ACK", 1), (300, "READ", 1)]),
        ({"statuses": []}, []),
        ({"statuses": ["READ"], "delays_ms": {"READ": 5}}, [(5, "READ", 1)]),
        ({"error_after_ms": 150}, [(100, "SERVER_ACK", 1), (150, "ERROR", 1)]),
        ({"error_after_ms": 0}, [(0, "ERROR", 1)]),
        ({"error_after_ms": 10, "statuses": ["READ"]}, [(10, "ERROR", 1), (300, "READ", 1)]),
        ({"duplicates": 3, "statuses": ["READ"]}, [(300, "READ", 3)]),
        ({"order": "reversed"}, [(100, "READ", 1), (200, "DELIVERY_ACK", 1), (300, "SERVER_ACK", 1)]),
        ({"lost": ["READ"]}, [(100, "SERVER_ACK", 1), (200, "DELIVERY_ACK", 1), (300, "READ", 0)]),
        ({"early": True}, [(0, "SERVER_ACK", 1), (0, "DELIVERY_ACK", 1), (0, "READ", 1)]),
    ],
)
def test_plan(receipts: dict[str, Any], expected: list[tuple[int, str, int]]) -> None:
    planned = plan(Receipts.model_validate(receipts), DELAYS, random.Random(1))
    assert [(each.after_ms, each.status, each.posts) for each in planned] == expected


def test_shuffling_reaches_every_order() -> None:
    dice, orders = random.Random(1), set()
    for _ in range(200):
        planned = plan(Receipts(order="shuffled"), DELAYS, dice)
        orders.add(tuple(each.status for each in planned))
        assert [each.after_ms for each in planned] == [100, 200, 300]
    assert len(orders) == 6


async def test_early_receipts_and_echo_beat_the_answer(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await simulator.put_script(match={"number": number}, receipts="early")
    await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
    events = [call.body["event"] for call in receiver.received]
    assert events.count("messages.update") == 3


@pytest.mark.parametrize(
    ("receipts", "expected"),
    [
        ("none", ["send.message"]),
        ("reversed", ["send.message", "READ", "DELIVERY_ACK", "SERVER_ACK"]),
        ("error", ["send.message", "ERROR"]),
        ({"statuses": ["READ"], "duplicates": 2}, ["send.message", "READ", "READ"]),
        ({"statuses": [], "echo": "duplicate"}, ["send.message", "send.message"]),
        ({"statuses": ["READ"], "echo": "off"}, ["READ"]),
    ],
)
async def test_disorder_reaches_the_receiver(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str, receipts: Any, expected: Any
) -> None:
    await simulator.put_script(match={"number": number}, receipts=receipts)
    await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
    await simulator.settled()
    seen = [call.body["data"].get("status", "PENDING") for call in receiver.received]
    assert ["send.message" if status == "PENDING" else status for status in seen] == expected


async def test_lost_receipts_can_still_be_looked_up(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await simulator.put_script(match={"number": number}, receipts="lost")
    await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "x"})
    await simulator.settled()
    assert [call.body["event"] for call in receiver.received] == ["send.message"]
    found = await simulator.client.post(f"/chat/findMessages/{instance}", json={"where": {}})
    [record] = found.json()["messages"]["records"]
    assert [update["status"] for update in record["MessageUpdate"]] == ["SERVER_ACK", "DELIVERY_ACK", "READ"]
