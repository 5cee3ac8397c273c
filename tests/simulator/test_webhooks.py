"""Webhooks as the gateway posts them: envelope, order, headers, settings, and its policy of trying again."""

import base64
import hashlib
import hmac
import itertools
import json
import random
import time
from typing import Any

import pytest

from evolution_simulator.settings import SimulatorSettings
from evolution_simulator.testing import SimulatorProcess, WebhookReceiver
from evolution_simulator.webhooks import retry_delay_seconds


async def send(simulator: SimulatorProcess, instance: str, number: str) -> dict[str, Any]:
    answer = await simulator.client.post(f"/message/sendText/{instance}", json={"number": number, "text": "olá"})
    assert answer.status_code == 201
    body: dict[str, Any] = answer.json()
    return body


async def set_webhook(simulator: SimulatorProcess, instance: str, **webhook: Any) -> dict[str, Any]:
    answer = await simulator.client.post(f"/webhook/set/{instance}", json={"webhook": {"enabled": True, **webhook}})
    assert answer.status_code == 201
    row: dict[str, Any] = answer.json()
    return row


async def test_echo_and_receipts_in_their_real_envelope(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    sent = await send(simulator, instance, number)
    echo, *updates = await receiver.wait_for(4)
    assert echo.body["event"] == "send.message"
    assert echo.body["data"] == sent
    assert set(echo.body) == {
        *("event", "instance", "data", "destination"),
        *("date_time", "sender", "server_url", "apikey"),
    }
    assert (echo.body["instance"], echo.body["destination"]) == (instance, receiver.url)
    assert (echo.body["server_url"], echo.body["apikey"]) == (simulator.url, None)
    assert echo.body["sender"].endswith("@s.whatsapp.net")
    assert echo.body["date_time"].endswith("Z")
    assert echo.headers["content-type"] == "application/json"
    assert echo.headers["user-agent"].startswith("axios/")
    assert [update.body["data"]["status"] for update in updates] == ["SERVER_ACK", "DELIVERY_ACK", "READ"]
    data = updates[0].body["data"]
    assert set(data) == {"keyId", "remoteJid", "fromMe", "status", "instanceId", "messageId"}
    assert (data["keyId"], data["remoteJid"]) == (sent["key"]["id"], sent["key"]["remoteJid"])
    assert data["messageId"].startswith("cm")


async def test_groups_get_no_receipts(simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver) -> None:
    await send(simulator, instance, "120363020000000001@g.us")
    await receiver.wait_for(1)
    await simulator.settled()
    assert [call.body["event"] for call in receiver.received] == ["send.message"]


async def test_own_headers_and_signed_token(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    headers = {"x-secret": "s1", "jwt_key": "shared"}
    row = await set_webhook(simulator, instance, url=receiver.url, headers=headers, events=["SEND_MESSAGE"])
    assert (row["headers"], row["events"], row["webhookByEvents"]) == (headers, ["SEND_MESSAGE"], False)
    assert (await simulator.client.get(f"/webhook/find/{instance}")).json() == row
    await send(simulator, instance, number)
    await receiver.wait_for(1)
    await simulator.settled()
    [call] = receiver.received
    assert call.headers["x-secret"] == "s1"
    assert "jwt_key" not in call.headers
    signing_input, _, signature = call.headers["authorization"].removeprefix("Bearer ").rpartition(".")
    digest = hmac.new(b"shared", signing_input.encode(), hashlib.sha256).digest()
    assert base64.urlsafe_b64decode(signature + "=") == digest
    claims = json.loads(base64.urlsafe_b64decode(signing_input.split(".")[1] + "=="))
    assert (claims["app"], claims["action"], claims["exp"] - claims["iat"]) == ("evolution", "webhook", 600)
    assert abs(claims["iat"] - time.time()) < 10


async def test_by_events_adds_a_path(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await set_webhook(simulator, instance, url=receiver.url, byEvents=True, events=[])
    await send(simulator, instance, number)
    calls = await receiver.wait_for(4)
    assert {call.path for call in calls} == {"/hook/send-message", "/hook/messages-update"}
    assert {call.body["destination"] for call in calls} == {receiver.url}


async def test_disabled_or_strange_urls_get_nothing(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await set_webhook(simulator, instance, url=receiver.url, events=[], enabled=False)
    await send(simulator, instance, number)
    await set_webhook(simulator, instance, url="ftp://127.0.0.1/", events=[])
    await send(simulator, instance, number)
    await simulator.settled()
    assert receiver.received == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"enabled": True, "url": "http://x"}, 400, [['instance requires property "webhook"']]),
        ({"webhook": {"enabled": True}}, 400, [['webhook requires property "url"']]),
        (
            {"webhook": {"enabled": True, "url": "http://x"}},
            500,
            "Cannot read properties of undefined (reading 'length')",
        ),
    ],
)
async def test_set_refuses(simulator: SimulatorProcess, body: Any, status: int, message: Any) -> None:
    answer = await simulator.client.post("/webhook/set/fixed", json=body)
    assert (answer.status_code, answer.json()["response"]["message"]) == (status, message)
    assert (await simulator.client.get("/webhook/find/fixed")).json() is None


async def test_unknown_event_names_are_refused_with_the_list(simulator: SimulatorProcess) -> None:
    body = {"webhook": {"enabled": True, "url": "http://x", "events": ["NOPE"]}}
    answer = await simulator.client.post("/webhook/set/fixed", json=body)
    [[problem]] = answer.json()["response"]["message"]
    assert "MESSAGES_UPDATE" in problem


async def test_connection_update_on_every_change_but_silent_ones(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver
) -> None:
    control = f"/simulator/instances/{instance}/state"
    for change in ({"state": "close"}, {"state": "connecting", "silent": True}, {"state": "open"}):
        await simulator.client.post(control, json=change)
        await simulator.settled()
    closed, opened = receiver.received
    assert closed.body["data"] == {"instance": instance, "state": "close", "statusReason": 401}
    assert (opened.body["data"]["state"], opened.body["data"]["statusReason"]) == ("open", 200)
    assert opened.body["data"]["wuid"] == opened.body["sender"]


async def test_failures_are_tried_again_until_they_succeed(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await set_webhook(simulator, instance, url=receiver.url, events=["SEND_MESSAGE"])
    receiver.answers.extend([500, 409, 429])
    await send(simulator, instance, number)
    calls = await receiver.wait_for(4)
    await simulator.settled()
    assert len(receiver.received) == 4
    assert len({json.dumps(call.body) for call in calls}) == 1
    gaps = [later.at - earlier.at for earlier, later in itertools.pairwise(calls)]
    assert all(gap >= 0.04 for gap in gaps)


async def test_it_gives_up_after_the_last_attempt(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str
) -> None:
    await set_webhook(simulator, instance, url=receiver.url, events=["SEND_MESSAGE"])
    receiver.answers.extend([503] * 20)
    await send(simulator, instance, number)
    await receiver.wait_for(4)
    await simulator.settled()
    assert len(receiver.received) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_some_answers_lose_the_event_for_ever(
    simulator: SimulatorProcess, instance: str, receiver: WebhookReceiver, number: str, status: int
) -> None:
    await set_webhook(simulator, instance, url=receiver.url, events=["SEND_MESSAGE"])
    receiver.answers.append(status)
    await send(simulator, instance, number)
    await receiver.wait_for(1)
    await simulator.settled()
    assert len(receiver.received) == 1


def test_default_delays_double_to_five_minutes() -> None:
    settings = SimulatorSettings(webhook_jitter_factor=0)
    delays = [retry_delay_seconds(failures, settings, random.Random(1)) for failures in range(1, 10)]
    assert delays == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    jittered = SimulatorSettings()
    samples = [retry_delay_seconds(1, jittered, random.Random(seed)) for seed in range(200)]
    assert 4 <= min(samples) < 4.5
    assert 5.5 < max(samples) <= 6
