"""Every error the facts catalogue, byte for byte as JSON, because clients classify by these bodies."""

from collections.abc import Callable
from typing import Any

import pytest

from evolution_simulator.testing import SimulatorProcess

UNAUTHORIZED = {"status": 401, "error": "Unauthorized", "response": {"message": "Unauthorized"}}


def bad_request(message: Any) -> dict[str, Any]:
    return {"status": 400, "error": "Bad Request", "response": {"message": message}}


def internal(message: str) -> dict[str, Any]:
    return {"status": 500, "error": "Internal Server Error", "response": {"message": message}}


async def test_unknown_instance_is_404_even_without_a_key(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/message/sendText/nope", json={}, headers={"apikey": ""})
    assert answer.status_code == 404
    assert answer.json() == {
        "status": 404,
        "error": "Not Found",
        "response": {"message": ['The "nope" instance does not exist']},
    }


@pytest.mark.parametrize(("method", "url"), [("GET", "/nope"), ("PUT", "/message/sendText/fixed?a=1")])
async def test_unknown_route(simulator: SimulatorProcess, method: str, url: str) -> None:
    answer = await simulator.client.request(method, url)
    assert (answer.status_code, answer.json()["response"]) == (404, {"message": [f"Cannot {method} {url}"]})


@pytest.mark.parametrize("key", ["", "wrong"])
async def test_bad_key_is_401(simulator: SimulatorProcess, key: str) -> None:
    for path in ("/message/sendText/fixed", "/instance/create", "/webhook/set/fixed"):
        answer = await simulator.client.post(path, json={}, headers={"apikey": key})
        assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED)
    answer = await simulator.client.get("/instance/fetchInstances", headers={"apikey": key})
    assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED)


async def test_token_opens_its_own_instance_only(simulator: SimulatorProcess, instance: str, number: str) -> None:
    body = {"number": number, "text": "x"}
    own = {"apikey": f"{instance}-token"}
    assert (await simulator.client.post(f"/message/sendText/{instance}", json=body, headers=own)).status_code == 201
    foreign = await simulator.client.post("/message/sendText/fixed", json=body, headers=own)
    assert (foreign.status_code, foreign.json()) == (401, UNAUTHORIZED)
    listed = (await simulator.client.get("/instance/fetchInstances", headers=own)).json()
    assert [row["name"] for row in listed] == [instance]


async def test_name_in_use_is_403(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/instance/create", json={"instanceName": "fixed"})
    assert answer.status_code == 403
    assert answer.json()["response"] == {"message": ['This name "fixed" is already in use.']}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"number": "5511"}, [['instance requires property "text"']]),
        ({}, [['instance requires property "number"', 'instance requires property "text"']]),
        ({"number": 5511, "text": "x", "delay": "1"}, [["Invalid format", "Enter a value in milliseconds"]]),
        ({"number": "5511", "text": 1}, [["text is not of a type(s) string"]]),
        ({"number": "5511", "text": "x", "delay": True}, [["Enter a value in milliseconds"]]),
        ({"number": "5511", "text": " \n\t"}, ["Text is required"]),
        ({"number": "5511", "text": ""}, ["Text is required"]),
    ],
)
async def test_send_text_refuses_what_its_schema_refuses(
    simulator: SimulatorProcess, body: dict[str, Any], message: Any
) -> None:
    answer = await simulator.client.post("/message/sendText/fixed", json=body)
    assert (answer.status_code, answer.json()) == (400, bad_request(message))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{bad", "Expected property name or '}' in JSON at position 1"),
        ('{"a":1', "Expected ',' or '}' after property value in JSON at position 6"),
        ("{", "Expected property name or '}' in JSON at position 1"),
    ],
)
async def test_malformed_json_is_400_before_every_guard(
    simulator: SimulatorProcess, content: str, message: str
) -> None:
    headers = {"content-type": "application/json", "apikey": "wrong"}
    for path in ("/message/sendText/fixed", "/message/sendText/nope", "/no/route"):
        answer = await simulator.client.post(path, content=content, headers=headers)
        expected = {"status": 400, "error": "Internal Server Error", "response": {"message": message}}
        assert (answer.status_code, answer.json()) == (400, expected)


async def test_a_body_that_is_not_json_counts_as_empty(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/message/sendText/fixed", content="number=1")
    assert answer.json()["response"]["message"] == [
        ['instance requires property "number"', 'instance requires property "text"']
    ]


async def test_closed_socket_has_three_faces(
    simulator: SimulatorProcess, instance: str, new_number: Callable[[], str]
) -> None:
    known, unknown = new_number(), new_number()
    send, numbers = f"/message/sendText/{instance}", f"/chat/whatsappNumbers/{instance}"
    assert (await simulator.client.post(send, json={"number": known, "text": "x"})).status_code == 201
    await simulator.client.post(f"/simulator/instances/{instance}/state", json={"state": "close"})

    uncached = await simulator.client.post(send, json={"number": unknown, "text": "x"})
    cached = await simulator.client.post(send, json={"number": known, "text": "x"})
    naked = await simulator.client.post(numbers, json={"numbers": [known]})

    assert (uncached.status_code, uncached.json()) == (500, internal("Connection Closed"))
    assert (cached.status_code, cached.json()) == (400, bad_request(["Error: Connection Closed"]))
    assert naked.status_code == 400
    assert naked.json()["output"]["payload"]["message"] == "Connection Closed"
    assert "response" not in naked.json()
    assert len(await simulator.ledger(instance=instance)) == 1


async def test_whatsapp_numbers_throws_without_the_response_envelope(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/chat/whatsappNumbers/fixed", json={"numbers": []})
    problem = [["numbers does not meet minimum length of 1"]]
    assert (answer.status_code, answer.json()) == (400, {"status": 400, "error": "Bad Request", "message": problem})


async def test_query_string_redirects_a_call_as_in_the_original(
    simulator: SimulatorProcess, instance: str, number: str
) -> None:
    url = f"/message/sendText/fixed?instanceName={instance}"
    assert (await simulator.client.post(url, json={"number": number, "text": "x"})).status_code == 201
    assert [row["number"] for row in await simulator.ledger(instance=instance)] == [number]


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([], ["At least one button is required"]),
        (["reply"] * 4, ["Maximum of 3 reply buttons allowed"]),
        (["reply", "url"], ["Reply buttons cannot be mixed with other button types"]),
        (["poll"], [["buttons[0].type is not one of enum values: reply,copy,url,call,pix"]]),
    ],
)
async def test_button_rules(simulator: SimulatorProcess, types: list[str], message: Any) -> None:
    body = {"number": "5511", "title": "t", "buttons": [{"type": each} for each in types]}
    answer = await simulator.client.post("/message/sendButtons/fixed", json=body)
    assert (answer.status_code, answer.json()) == (400, bad_request(message))


async def test_buttons_missing_is_500(simulator: SimulatorProcess) -> None:
    answer = await simulator.client.post("/message/sendButtons/fixed", json={"number": "5511"})
    expected = internal("Cannot read properties of undefined (reading 'length')")
    assert (answer.status_code, answer.json()) == (500, expected)
