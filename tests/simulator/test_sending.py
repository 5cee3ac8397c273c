"""What an accepted send looks like: the 201 body, the address, the blocking delay."""

import time

import pytest

from evolution_simulator.jid import create_jid
from evolution_simulator.testing import SimulatorProcess


async def test_welcome_tells_it_is_ready(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.get("/", headers={"apikey": ""})
    assert (answer.status_code, answer.json()["version"]) == (200, "2.3.7")


async def test_201_body_has_the_real_shape(simulator: SimulatorProcess, instance: str) -> None:
    body = {"number": "5531988887777", "text": "olá", "unknown": "ignored"}
    answer = await simulator.client.post(f"/message/sendText/{instance}", json=body)
    sent = answer.json()
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["keep-alive"] == "timeout=5"
    assert set(sent) == {
        *("key", "pushName", "status", "message", "contextInfo"),
        *("messageType", "messageTimestamp", "instanceId", "source"),
    }
    assert sent["key"]["remoteJid"] == "553188887777@s.whatsapp.net"
    assert sent["key"]["fromMe"] is True
    assert sent["key"]["id"].startswith("3EB0")
    assert len(sent["key"]["id"]) == 22
    assert (sent["status"], sent["message"], sent["messageType"]) == (
        "PENDING",
        {"conversation": "olá"},
        "conversation",
    )
    assert abs(sent["messageTimestamp"] - time.time()) < 5
    [row] = await simulator.ledger(instance=instance)
    assert (row["number"], row["jid"], row["text"]) == ("5531988887777", sent["key"]["remoteJid"], "olá")
    assert (row["key_id"], row["outcome"]) == (sent["key"]["id"], "accept")


async def test_buttons_answer_as_view_once_with_a_participant(simulator: SimulatorProcess, instance: str) -> None:
    buttons = [{"type": "reply", "displayText": "Sim", "id": "1"}]
    body = {"number": "5511900000000", "title": "Oi", "description": "tudo bem?", "buttons": buttons}
    answer = await simulator.client.post(f"/message/sendButtons/{instance}", json=body)
    assert (answer.status_code, answer.json()["messageType"]) == (201, "viewOnceMessage")
    assert answer.json()["key"]["participant"] == "5511900000000@s.whatsapp.net"
    assert "viewOnceMessage" in answer.json()["message"]


async def test_delay_blocks_the_call(simulator: SimulatorProcess, instance: str, number: str) -> None:
    started = time.monotonic()
    body = {"number": number, "text": "x", "delay": 300}
    assert (await simulator.client.post(f"/message/sendText/{instance}", json=body)).status_code == 201
    assert 0.3 <= time.monotonic() - started < 2


async def test_presence_blocks_and_answers_201(simulator: SimulatorProcess, instance: str, number: str) -> None:
    started = time.monotonic()
    body = {"number": number, "presence": "composing", "delay": 200}
    answer = await simulator.client.post(f"/chat/sendPresence/{instance}", json=body)
    assert (answer.status_code, answer.json()) == (201, {"presence": "composing"})
    assert time.monotonic() - started >= 0.2
    incomplete = await simulator.client.post(f"/chat/sendPresence/{instance}", json={"number": number})
    missing = ['instance requires property "presence"', 'instance requires property "delay"']
    assert incomplete.json()["response"]["message"] == [missing]


async def test_connection_state_follows_the_control_route(simulator: SimulatorProcess, instance: str) -> None:
    for state in ("connecting", "close", "open"):
        await simulator.client.post(f"/simulator/instances/{instance}/state", json={"state": state})
        answer = await simulator.client.get(f"/instance/connectionState/{instance}")
        assert answer.json() == {"instance": {"instanceName": instance, "state": state}}


@pytest.mark.parametrize(
    ("number", "jid"),
    [
        ("5531988887777", "553188887777@s.whatsapp.net"),
        ("5511988887777", "5511988887777@s.whatsapp.net"),
        ("5530988887777", "5530988887777@s.whatsapp.net"),
        ("5531978887777", "553178887777@s.whatsapp.net"),
        ("5531968887777", "5531968887777@s.whatsapp.net"),
        ("553188887777", "553188887777@s.whatsapp.net"),
        ("+55 (31) 98888-7777", "553188887777@s.whatsapp.net"),
        ("5215512345678", "525512345678@s.whatsapp.net"),
        ("5491112345678", "541112345678@s.whatsapp.net"),
        ("14155550100", "14155550100@s.whatsapp.net"),
        ("120363020000000001", "120363020000000001@g.us"),
        ("5511999999999-1600000000", "5511999999999-1600000000@g.us"),
        ("5511988887777:12@s.whatsapp.net", "5511988887777@s.whatsapp.net"),
        ("99887766@lid", "99887766@lid"),
    ],
)
def test_addresses_are_made_as_create_jid_makes_them(number: str, jid: str) -> None:
    assert create_jid(number) == jid
