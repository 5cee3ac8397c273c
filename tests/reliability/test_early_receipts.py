"""Receipts before the gateway's answer, instead of it, or days after it: the status is right and sent once."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.e2e.client import ARRIVE_SECONDS, Client
from tests.reliability.outcome import wrongs

from local_stack.customer import WebhookReceiver
from local_stack.environment import Service
from local_stack.system import System
from local_stack.waiting import wait_until

EARLY = {"early": True, "duplicates": 2}
MUTE = {"act": "accept_then_hang", "seconds": 8}
"""Longer than the dispatcher waits for an answer."""

MESSAGE_EVENTS = {"message.sent", "message.delivered", "message.read"}


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver().listening() as listening:
        yield listening


def told_of(receiver: WebhookReceiver, message_id: str) -> Counter[str]:
    """The events of a message, deliveries counted once however often they came."""
    hooks = {hook.webhook_id: hook for hook in receiver.snapshot() if hook.message_id == message_id}
    assert all(hook.verified for hook in hooks.values())
    return Counter(hook.event for hook in hooks.values())


@pytest.mark.parametrize(
    ("step", "receipts"),
    [
        pytest.param({"act": "slow", "ms": 1_500}, EARLY, id="answer_later"),
        pytest.param(MUTE, EARLY, id="answer_never"),
        pytest.param(MUTE, {**EARLY, "echo": "off"}, id="answer_and_echo_never"),
        pytest.param({"act": "accept_then_reset"}, {**EARLY, "order": "shuffled"}, id="answer_lost"),
        pytest.param({"act": "error_400_after_send", "message": "Timed Out"}, EARLY, id="answer_wrong"),
    ],
)
def test_case_06_receipts_before_or_without_the_answer_end_in_read_and_one_send(
    client: Client, receiver: WebhookReceiver, step: dict[str, Any], receipts: dict[str, Any]
) -> None:
    client.register(receiver, path="early")
    client.script(send=[step], receipts=receipts)
    sent = [client.send("+5547991000000", "message 0")]
    message = client.wait_for(sent[0]["id"], "READ")
    assert message["errorCode"] is None
    assert wrongs(client, sent) == []
    assert message["externalMessageId"] == client.ledger()[0]["key_id"]
    wait_until(
        lambda: "message.read" in told_of(receiver, sent[0]["id"]), what="webhooks", timeout_seconds=ARRIVE_SECONDS
    )
    told = told_of(receiver, sent[0]["id"])
    assert set(told) <= MESSAGE_EVENTS
    assert set(told.values()) == {1}, "an event was told twice"


def test_case_06_an_error_before_the_answer_is_a_failure_and_no_second_send(client: Client) -> None:
    client.script(send=[{"act": "slow", "ms": 1_500}], receipts={"early": True, "error_after_ms": 0, "statuses": []})
    sent = [client.send("+5547991000001", "message 0")]
    message = client.wait_for(sent[0]["id"], "FAILED")
    assert message["errorCode"] == "GATEWAY_REPORTED_ERROR"
    assert len(client.ledger()) == 1


def test_case_37_pending_is_not_sent_and_a_late_read_still_wins(
    system: System, client: Client, receiver: WebhookReceiver
) -> None:
    client.register(receiver, path="late")
    client.script(receipts="none")
    quiet = client.send("+5547991000002", "message 0")
    client.wait_for(quiet["id"], "DISPATCHED")
    client.script(receipts={})
    other = client.send("+5547991000003", "message 1")
    client.wait_for(other["id"], "READ")
    wait_until(
        lambda: "message.read" in told_of(receiver, other["id"]), what="webhooks", timeout_seconds=ARRIVE_SECONDS
    )
    assert client.read(quiet["id"])["status"] == "DISPATCHED"
    assert told_of(receiver, quiet["id"]) == Counter()
    key_id = client.read(quiet["id"])["externalMessageId"]
    data = {"keyId": key_id, "remoteJid": "100000000000001@lid", "fromMe": True, "status": "READ"}
    edge = f"{system.ports.url(Service.STATUS_INGEST)}/webhooks/evolution/{system.credentials.ingest_token}"
    body = json.dumps({"event": "messages.update", "instance": client.instance, "data": data})
    assert httpx.post(edge, content=body, trust_env=False).status_code == 200
    client.wait_for(quiet["id"], "READ")
    wait_until(lambda: bool(told_of(receiver, quiet["id"])), what="webhooks", timeout_seconds=ARRIVE_SECONDS)
    assert told_of(receiver, quiet["id"]) == Counter({"message.read": 1})
    assert len(client.ledger()) == 2
