"""Input nobody should send gets the gateway's own refusals, never a failure of the simulator."""

from typing import Any

import pytest

from evolution_simulator.scripts import Act, ScriptBook
from evolution_simulator.testing import SimulatorProcess

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "content", [b"[" * 200_000, b'{"delay":NaN}', b'\xff\xfe{"', b'{"delay":' + b"9" * 5_000 + b"}"]
)
async def test_unreadable_bodies_are_400(simulator: SimulatorProcess, content: bytes) -> None:
    answer = await simulator.client.post("/message/sendText/fixed", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "Internal Server Error")


async def test_too_large_a_body_is_413(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/message/sendText/fixed", content=b" " * 300_001, headers=JSON)
    assert (answer.status_code, answer.json()["response"]) == (413, {"message": "request entity too large"})


async def test_a_lone_surrogate_is_sent_and_told_as_an_escape(
    simulator: SimulatorProcess, instance: str, number: str
) -> None:
    content = f'{{"number":"{number}","text":"a\\ud800é"}}'.encode()
    answer = await simulator.client.post(f"/message/sendText/{instance}", content=content, headers=JSON)
    assert answer.status_code == 201
    assert b"a\\ud800\\u00e9" in answer.content
    [row] = await simulator.ledger(instance=instance)
    assert row["text"] == "a\ud800é"


@pytest.mark.parametrize(
    "where",
    [
        {"key": "3EB0"},
        {"messageTimestamp": 5},
        {"messageTimestamp": {"gte": "yesterday", "lte": 10**400}},
        {"messageTimestamp": {"gte": [1], "lte": {}}},
        [],
        None,
    ],
)
async def test_strange_filters_find_something_or_nothing(simulator: SimulatorProcess, where: Any) -> None:
    answer = await simulator.client.post("/chat/findMessages/fixed", json={"where": where, "page": "2", "offset": -1})
    assert (answer.status_code, answer.json()["messages"]["currentPage"]) == (200, 1)


async def test_a_webhook_of_a_wrong_type_creates_no_instance(simulator: SimulatorProcess) -> None:
    body = {"instanceName": "bad-webhook", "webhook": {"url": 5}}
    answer = await simulator.client.post("/instance/create", json=body)
    assert answer.json()["response"]["message"] == [["webhook.url is not of a type(s) string"]]
    missing = await simulator.client.get("/instance/connectionState/bad-webhook")
    assert missing.status_code == 404


def test_magic_numbers_act_only_where_they_are_switched_on() -> None:
    asked = ("shop", "5511900000001", "5511900000001@s.whatsapp.net")
    assert ScriptBook(magic_numbers=True).peek(*asked).act is Act.REFUSE_NOT_EXISTS
    assert ScriptBook(magic_numbers=False).peek(*asked).act is Act.ACCEPT
