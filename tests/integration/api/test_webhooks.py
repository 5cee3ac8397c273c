"""Webhooks over the whole way: client, api, broker, notifier, and the customer's server back."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from pilot_status import parse_customer_webhook

from chassis.testing.waiting import eventually
from contracts.status import Status
from local_stack.services import ServiceProcess

from .running import RunningApi, code_of
from .webhook_customer import Client, Sink, customer, digest, has_received


@pytest.fixture
async def client(api: RunningApi, notifier: ServiceProcess) -> Client:
    return await customer(api)


async def test_the_shape_and_the_secret_shown_once(client: Client, sink: Sink) -> None:
    """Registering needs no open connection: the number of this key is closed."""
    created = await client.registered(sink.url, "message.sent")
    assert set(created) == {
        *("id", "tenantId", "name", "url", "environment", "active", "events", "apiKeys", "lastTriggered"),
        *("whatsappNumberIds", "whatsappInstanceIds", "createdAt", "updatedAt", "secret"),
        *("disabledReason", "disabledHint", "disabledSince", "failingSince"),
    }
    assert (created["whatsappNumberIds"], created["active"]) == ([client.number_id], True)
    shown = (await client.ask("GET", f"/{created['id']}")).json()
    assert shown == {name: value for name, value in created.items() if name != "secret"}
    assert (await client.ask("GET")).json() == [shown]
    assert created["secret"] not in client.api.log()


async def test_events_gate_and_a_patch_replaces_the_list(client: Client, sink: Sink) -> None:
    nothing = await client.registered(f"{sink.url}/none")
    some = await client.registered(f"{sink.url}/some", "message.sent", "lead.received")
    every = await client.registered(f"{sink.url}/all", "*")
    assert (nothing["events"], some["events"], every["events"]) == ([], ["message.sent"], ["*"])
    changed = await client.ask("PATCH", f"/{some['id']}", events=["message.read"])
    assert (changed.json()["events"], changed.json()["name"], changed.json()["url"]) == (
        ["message.read"],
        "hook",
        f"{sink.url}/some",
    )
    await client.happened(Status.SENT)
    await client.happened(Status.READ)
    await eventually(lambda: has_received(sink, 3), "three deliveries", timeout_seconds=20)
    bodies = b"".join(body for _, body in sink.received)
    assert (bodies.count(b'"message.read"'), bodies.count(b'"message.sent"')) == (2, 1)


async def test_the_log_is_opened_for_its_reader(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url, "*")
    sink.status = 500
    await client.happened(Status.SENT, text="Segredo")

    async def is_logged() -> bool:
        return len((await client.ask("GET", f"/{created['id']}/logs")).json()) == 1

    await eventually(is_logged, "the attempt in the log", timeout_seconds=20)
    [entry] = (await client.ask("GET", f"/{created['id']}/logs")).json()
    assert (entry["event"], entry["status"], entry["statusCode"], entry["response"]) == (
        "message.sent",
        "FAILED",
        500,
        "okay",
    )
    assert entry["payload"]["data"]["content"] == "Segredo"
    assert entry["durationMs"] >= 0
    assert (await client.ask("GET", f"/{created['id']}/logs", params={"event": "message.read"})).json() == []
    for limit in (0, 51):
        answer = await client.ask("GET", f"/{created['id']}/logs", params={"limit": limit})
        assert code_of(answer) == (400, "VALIDATION_FAILED")
    rows = await client.api.rows("SELECT * FROM notifier.deliveries")
    assert "Segredo" not in repr([dict(row) for row in rows])
    assert "Segredo" not in client.api.log()


async def test_both_secrets_sign_while_one_replaces_the_other(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url, "*")
    rotated = (await client.ask("POST", f"/{created['id']}/rotate-secret")).json()
    assert rotated["secret"] != created["secret"]
    assert rotated["previousSecretValidUntil"] > rotated["updatedAt"]
    await client.happened(Status.SENT)
    await eventually(lambda: has_received(sink, 1), "the delivery", timeout_seconds=20)
    headers, body = sink.received[0]
    assert headers["x-pilot-status-signature"] == digest(rotated["secret"], body)
    assert headers["x-pilot-status-signature-previous"] == digest(created["secret"], body)


async def test_a_test_event_takes_the_way_of_all_others(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url)
    answer = await client.ask("POST", f"/{created['id']}/test")
    assert answer.status_code == 202
    assert (answer.json()["webhookId"], answer.json()["event"]) == (created["id"], "webhook.test")
    await eventually(lambda: has_received(sink, 1), "the test event", timeout_seconds=20)
    headers, body = sink.received[0]
    assert headers["x-pilot-status-signature"] == digest(created["secret"], body)
    assert headers["webhook-id"] == answer.json()["deliveryId"]
    parsed = parse_customer_webhook(json.loads(body))
    assert (parsed["type"], json.loads(body)["data"]["test"]) == ("unknown", True)

    async def is_logged() -> bool:
        entries = (await client.ask("GET", f"/{created['id']}/logs", params={"event": "webhook.test"})).json()
        return [(entry["deliveryId"], entry["status"]) for entry in entries] == [(headers["webhook-id"], "SUCCESS")]

    await eventually(is_logged, "the attempt in the log", timeout_seconds=20)
    await client.ask("PATCH", f"/{created['id']}", active=False)
    assert code_of(await client.ask("POST", f"/{created['id']}/test")) == (409, "WEBHOOK_INACTIVE")


async def test_a_deleted_webhook_is_gone_with_its_log(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url, "*")
    assert (await client.ask("DELETE", f"/{created['id']}")).status_code == 200
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/logs"), ("POST", "/rotate-secret"), ("POST", "/test")):
        assert code_of(await client.ask(method, f"/{created['id']}{path}")) == (404, "WEBHOOK_NOT_FOUND")
    assert (await client.ask("GET")).json() == []


async def test_a_number_key_reaches_its_own_number_only(client: Client, api: RunningApi, sink: Sink) -> None:
    other = await customer(api)
    created = await client.registered(sink.url, "*")
    requests = (("GET", ""), ("DELETE", ""), ("GET", "/logs"), ("POST", "/rotate-secret"), ("POST", "/test"))
    for method, path in requests:
        assert code_of(await other.ask(method, f"/{created['id']}{path}")) == (404, "WEBHOOK_NOT_FOUND")
    patched = await other.ask("PATCH", f"/{created['id']}", active=False)
    assert code_of(patched) == (404, "WEBHOOK_NOT_FOUND")
    assert (await client.ask("GET", f"/{created['id']}")).json()["active"] is True
    mismatch = await client.ask("POST", url=f"{sink.url}/2", whatsappNumberId=other.number_id)
    assert code_of(mismatch) == (400, "NUMBER_MISMATCH")
    own = await client.ask("POST", url=f"{sink.url}/2", whatsappNumberId=client.number_id)
    assert own.status_code == 201
    ignored = await client.ask("GET", headers={"x-whatsapp-number-id": other.number_id})
    assert len(ignored.json()) == 2


async def test_numbers_of_one_tenant_do_not_reach_each_others_webhooks(
    client: Client, api: RunningApi, sink: Sink
) -> None:
    created = await client.registered(sink.url, "*")
    second = await api.number(tenantId=client.account.tenant_id)
    key = await api.key(client.account.project_id, environment="LIVE", number_id=second["id"])
    assert (await client.ask("GET", key=key)).json() == []
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/logs"), ("POST", "/rotate-secret"), ("POST", "/test")):
        answer = await client.ask(method, f"/{created['id']}{path}", key=key)
        assert code_of(answer) == (404, "WEBHOOK_NOT_FOUND")


async def test_a_tenant_key_names_the_number(client: Client, api: RunningApi, sink: Sink) -> None:
    other, key = await customer(api), await client.tenant_key()
    assert code_of(await client.ask("POST", key=key, url=sink.url)) == (400, "NUMBER_REQUIRED")
    foreign = await client.ask("POST", key=key, url=sink.url, whatsappNumberId=other.number_id)
    assert code_of(foreign) == (404, "NUMBER_NOT_FOUND")
    unknown = await client.ask("POST", key=key, url=sink.url, whatsappNumberId=str(uuid4()))
    assert code_of(unknown) == (404, "NUMBER_NOT_FOUND")
    by_body = await client.ask("POST", key=key, url=f"{sink.url}/1", whatsappNumberId=client.number_id)
    by_header = await client.ask(
        "POST", key=key, url=f"{sink.url}/2", headers={"x-whatsapp-number-id": client.number_id}
    )
    assert (by_body.status_code, by_header.status_code) == (201, 201)
    assert len((await client.ask("GET", key=key)).json()) == 2
    assert len((await client.ask("GET")).json()) == 2
    assert (await client.ask("GET", f"/{by_body.json()['id']}", key=key)).status_code == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, (400, "VALIDATION_FAILED")),
        ({"url": None}, (400, "VALIDATION_FAILED")),
        ({"url": 5}, (400, "VALIDATION_FAILED")),
        ({"url": "nonsense"}, (400, "WEBHOOK_URL_REFUSED")),
        ({"url": "ftp://example.org/"}, (400, "WEBHOOK_URL_REFUSED")),
        ({"url": "http://127.0.0.1:9/", "events": ["message.snet"]}, (400, "UNKNOWN_EVENT")),
        ({"url": "http://127.0.0.1:9/", "events": "*"}, (400, "VALIDATION_FAILED")),
        ({"url": "http://127.0.0.1:9/", "name": "a\u0000b"}, (400, "VALIDATION_FAILED")),
        ({"url": "http://127.0.0.1:9/", "whatsappNumberId": "x"}, (400, "VALIDATION_FAILED")),
    ],
)
async def test_mistakes_are_named(client: Client, body: dict[str, Any], code: tuple[int, str]) -> None:
    answer = await client.api.client.post("/v1/webhooks", json=body, headers={"x-api-key": client.key})
    assert code_of(answer) == code


async def test_mistakes_in_a_change_are_named(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url)
    await client.registered(f"{sink.url}/2")
    path = f"/{created['id']}"
    assert code_of(await client.ask("PATCH", path, unknown=1)) == (400, "EMPTY_PATCH")
    assert code_of(await client.ask("PATCH", path, url=f"{sink.url}/2")) == (409, "WEBHOOK_ALREADY_EXISTS")
    assert code_of(await client.ask("PATCH", path, active="yes")) == (400, "VALIDATION_FAILED")
    assert code_of(await client.ask("GET", "/nonsense")) == (404, "WEBHOOK_NOT_FOUND")


async def test_a_silent_notifier_is_a_503_that_says_when_to_try_again(
    client: Client, notifier: ServiceProcess, sink: Sink
) -> None:
    created = await client.registered(sink.url)
    await asyncio.to_thread(notifier.stop)
    try:
        for method, path in (("GET", ""), ("GET", f"/{created['id']}"), ("GET", f"/{created['id']}/logs")):
            answer = await client.ask(method, path)
            assert code_of(answer) == (503, "OWNER_UNAVAILABLE")
            assert int(answer.headers["retry-after"]) >= 1
    finally:
        await asyncio.to_thread(notifier.start)
