"""findMessages, findStatusMessage, whatsappNumbers, fetchInstances: the filters that work and those that do not."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evolution_simulator.testing import SimulatorProcess


class Sent:
    """Three messages of one instance: two to `first`, one to `second`."""

    def __init__(self, simulator: SimulatorProcess, instance: str, first: str, second: str) -> None:
        self.simulator, self.instance = simulator, instance
        self.first, self.second = f"{first}@s.whatsapp.net", f"{second}@s.whatsapp.net"
        self.ids: list[str] = []

    async def send(self) -> "Sent":
        for jid, text in ((self.first, "one"), (self.first, "two"), (self.second, "three")):
            body = {"number": jid, "text": text}
            answer = await self.simulator.client.post(f"/message/sendText/{self.instance}", json=body)
            self.ids.append(answer.json()["key"]["id"])
        return self

    async def find(self, where: dict[str, Any], **page: Any) -> dict[str, Any]:
        body = {"where": where, **page}
        answer = await self.simulator.client.post(f"/chat/findMessages/{self.instance}", json=body)
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()["messages"]
        return found

    async def texts(self, where: dict[str, Any]) -> set[str]:
        return {record["message"]["conversation"] for record in (await self.find(where))["records"]}


@pytest.fixture
async def sent(simulator: SimulatorProcess, instance: str, new_number: Callable[[], str]) -> Sent:
    return await Sent(simulator, instance, new_number(), new_number()).send()


async def test_filters_by_key(sent: Sent) -> None:
    assert await sent.texts({"key": {"id": sent.ids[1]}}) == {"two"}
    assert await sent.texts({"key": {"remoteJid": sent.first}}) == {"one", "two"}
    assert await sent.texts({"key": {"remoteJid": "0@lid", "remoteJidAlt": sent.second}}) == {"three"}
    assert await sent.texts({"key": {"fromMe": True, "remoteJid": sent.first}}) == {"one", "two"}
    assert await sent.texts({"key": {"remoteJid": "0@lid"}}) == set()


async def test_what_cannot_be_filtered_is_ignored(sent: Sent) -> None:
    everything = {"one", "two", "three"}
    assert await sent.texts({"key": {"fromMe": False}}) == everything
    assert await sent.texts({"text": "one", "status": "READ"}) == everything
    assert await sent.texts({}) == everything


async def test_time_window_needs_both_ends_and_milliseconds(sent: Sent) -> None:
    now = datetime.now(UTC)
    before, after = (now - timedelta(minutes=1)).isoformat(), (now + timedelta(minutes=1)).isoformat()
    everything = {"one", "two", "three"}
    assert await sent.texts({"messageTimestamp": {"gte": before, "lte": after}}) == everything
    assert await sent.texts({"messageTimestamp": {"gte": before.replace("+00:00", "Z"), "lte": after}}) == everything
    assert await sent.texts({"messageTimestamp": {"gte": after}}) == everything
    assert await sent.texts({"messageTimestamp": {"gte": after, "lte": after}}) == set()
    seconds = int(now.timestamp())
    assert await sent.texts({"messageTimestamp": {"gte": seconds - 60, "lte": seconds + 60}}) == set()
    milliseconds = {"gte": (seconds - 60) * 1000, "lte": (seconds + 60) * 1000}
    assert await sent.texts({"messageTimestamp": milliseconds}) == everything


async def test_offset_is_the_page_size(sent: Sent) -> None:
    first = await sent.find({}, page=1, offset=2, limit=1)
    second = await sent.find({}, page=2, offset=2)
    assert (first["total"], first["pages"], first["currentPage"], len(first["records"])) == (3, 2, 1, 2)
    assert (second["currentPage"], len(second["records"])) == (2, 1)


async def test_record_has_updates_but_no_status(sent: Sent) -> None:
    await sent.simulator.settled()
    [record] = (await sent.find({"key": {"id": sent.ids[0]}}))["records"]
    assert "status" not in record
    assert record["id"].startswith("cm")
    assert {update["status"] for update in record["MessageUpdate"]} == {"SERVER_ACK", "DELIVERY_ACK", "READ"}


async def test_find_status_message(sent: Sent) -> None:
    await sent.simulator.settled()
    body = {"where": {"id": sent.ids[2]}, "page": 1, "offset": 2}
    rows = (await sent.simulator.client.post(f"/chat/findStatusMessage/{sent.instance}", json=body)).json()
    assert [row["status"] for row in rows] == ["SERVER_ACK", "DELIVERY_ACK"]
    assert {row["keyId"] for row in rows} == {sent.ids[2]}
    assert set(rows[0]) == {
        *("id", "keyId", "remoteJid", "fromMe", "participant"),
        *("pollUpdates", "status", "messageId", "instanceId"),
    }


async def test_whatsapp_numbers_echoes_the_number_and_follows_the_script(
    simulator: SimulatorProcess, instance: str
) -> None:
    await simulator.put_script(match={"number": "5511900000099"}, send=["refuse_not_exists"])
    body = {"numbers": ["5531988887777", "5511900000099"]}
    answer = await simulator.client.post(f"/chat/whatsappNumbers/{instance}", json=body)
    assert answer.json() == [
        {"jid": "553188887777@s.whatsapp.net", "exists": True, "number": "5531988887777"},
        {"jid": "5511900000099@s.whatsapp.net", "exists": False, "number": "5511900000099"},
    ]
    presence = {"number": "5511900000099", "presence": "composing", "delay": 0}
    refused = await simulator.client.post(f"/chat/sendPresence/{instance}", json=presence)
    assert refused.json()["response"] == {"message": ["[object Object]"]}


async def test_fetch_instances(simulator: SimulatorProcess, instance: str) -> None:
    [row] = (await simulator.client.get("/instance/fetchInstances", params={"instanceName": instance})).json()
    assert (row["name"], row["connectionStatus"], row["token"]) == (instance, "open", f"{instance}-token")
    assert {"_count", "Setting", "Webhook"} - set(row) == {"Webhook"}
    unknown = await simulator.client.get("/instance/fetchInstances", params={"instanceName": "none"})
    assert (unknown.status_code, unknown.json()["response"]) == (404, {"message": ['Instance "none" not found']})
