"""Deliveries over the public routes: listed, replayed one by one and by period, and the same for operators."""

from typing import Any
from uuid import uuid4

import pytest

from chassis.testing.waiting import eventually
from contracts.status import Status
from local_stack.services import ServiceProcess

from .running import OPERATOR_KEY, RunningApi, code_of
from .webhook_customer import Client, Sink, customer, digest, has_received

PERIOD = {"from": "2020-01-01T00:00:00Z", "to": "2039-01-01T00:00:00-03:00"}


@pytest.fixture
async def client(api: RunningApi, notifier: ServiceProcess) -> Client:
    return await customer(api)


async def listed(client: Client, webhook: str, **params: str) -> list[Any]:
    answer = await client.ask("GET", f"/{webhook}/deliveries", params=params)
    assert answer.status_code == 200, answer.text
    items: list[Any] = answer.json()["items"]
    return items


async def delivered(client: Client, webhook: str, wanted: int) -> None:
    async def is_so() -> bool:
        return len(await listed(client, webhook, status="DELIVERED")) == wanted

    await eventually(is_so, f"{wanted} deliveries", timeout_seconds=20)


async def operate(client: Client, method: str, path: str, **body: Any) -> Any:
    return await client.api.client.request(
        method, f"/v1/admin/webhooks{path}", headers={"x-operator-key": OPERATOR_KEY}, json=body or None
    )


async def test_one_and_a_period_are_delivered_again(client: Client, sink: Sink) -> None:
    """The signature is ours, whatever headers a customer tries to set at registration."""
    forged = {"x-pilot-status-signature": "forged", "X-Webhook-Signature": "forged"}
    created = await client.registered(sink.url, "*", headers=forged)
    await client.happened(Status.SENT)
    await client.happened(Status.FAILED)
    await delivered(client, created["id"], 2)
    newest, oldest = await listed(client, created["id"])
    assert newest["createdAt"] >= oldest["createdAt"]
    assert (newest["attempts"], newest["statusCode"], newest["problem"], newest["replayable"]) == (1, 200, None, True)
    one = await client.ask("POST", f"/{created['id']}/deliveries/{newest['id']}/replay")
    assert one.status_code == 202, one.text
    assert one.json() == {
        "webhookId": created["id"],
        "count": 1,
        "deliveryIds": [newest["id"]],
        "skipped": [],
        "nextCursor": None,
    }
    await eventually(lambda: has_received(sink, 3), "the replay", timeout_seconds=20)
    await delivered(client, created["id"], 2)
    period = await client.ask("POST", f"/{created['id']}/replay", **PERIOD, events=["message.sent"], status="DELIVERED")
    [sent] = [item["id"] for item in (newest, oldest) if item["event"] == "message.sent"]
    assert (period.status_code, period.json()["deliveryIds"]) == (202, [sent])
    await eventually(lambda: has_received(sink, 4), "the replay of the period", timeout_seconds=20)
    for headers, body in sink.received:
        assert headers["x-pilot-status-signature"] == digest(created["secret"], body)
        assert "x-webhook-signature" not in headers
    again = [headers for headers, _ in sink.received if headers["webhook-id"] == newest["id"]]
    assert [headers["x-pilot-status-attempt"] for headers in again][:2] == ["1", "2"]


async def test_pages_and_filters(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url, "*")
    for _ in range(3):
        await client.happened(Status.SENT)
    await delivered(client, created["id"], 3)
    first = (await client.ask("GET", f"/{created['id']}/deliveries", params={"limit": "2"})).json()
    params = {"limit": "2", "cursor": first["nextCursor"]}
    second = (await client.ask("GET", f"/{created['id']}/deliveries", params=params)).json()
    assert (len(first["items"]), len(second["items"]), second["nextCursor"]) == (2, 1, None)
    assert len({item["id"] for item in first["items"] + second["items"]}) == 3
    message = first["items"][0]["messageId"]
    assert [item["messageId"] for item in await listed(client, created["id"], messageId=message)] == [message]
    assert await listed(client, created["id"], event="message.read") == []
    assert await listed(client, created["id"], status="FAILED") == []
    for wrong in (
        {"status": "nope"},
        {"cursor": "x"},
        {"limit": "101"},
        {"messageId": "x"},
    ):
        answer = await client.ask("GET", f"/{created['id']}/deliveries", params=wrong)
        assert code_of(answer) == (400, "VALIDATION_FAILED")
        assert next(iter(wrong)) in answer.json()["details"][0]["field"]
    assert (await client.ask("GET", f"/{created['id']}/deliveries", params={"event": "\x00"})).status_code == 400


async def test_what_cannot_be_replayed_is_refused_with_a_reason(client: Client, sink: Sink) -> None:
    created = await client.registered(sink.url, "*")
    path = f"/{created['id']}"
    for unknown in (str(uuid4()), "nope"):
        answer = await client.ask("POST", f"{path}/deliveries/{unknown}/replay")
        assert code_of(answer) == (404, "WEBHOOK_DELIVERY_NOT_FOUND")
    turned = await client.ask("POST", f"{path}/replay", **{"from": PERIOD["to"], "to": PERIOD["from"]})
    assert code_of(turned) == (400, "INVALID_DATE_RANGE")
    for wrong in (
        {"from": "2020-01-01", "to": PERIOD["to"]},
        {"to": PERIOD["to"]},
        {**PERIOD, "status": "SENT"},
        {**PERIOD, "events": ["\x00"]},
        {**PERIOD, "cursor": "x"},
    ):
        assert code_of(await client.ask("POST", f"{path}/replay", **wrong)) == (400, "VALIDATION_FAILED")
    early = {"from": "0001-01-01T00:00:00+14:00", "to": "9999-12-31T23:59:59Z"}
    assert (await client.ask("POST", f"{path}/replay", **early)).json()["count"] == 0
    stranger = await customer(client.api)
    assert code_of(await stranger.ask("POST", f"{path}/replay", **PERIOD)) == (404, "WEBHOOK_NOT_FOUND")
    assert code_of(await stranger.ask("GET", f"{path}/deliveries")) == (404, "WEBHOOK_NOT_FOUND")
    await client.ask("PATCH", path, active=False)
    off = (await client.ask("GET", path)).json()
    assert (off["active"], off["disabledReason"], off["disabledHint"]) == (
        False,
        "CUSTOMER",
        "It was switched off by hand.",
    )
    assert off["disabledSince"] is not None
    assert code_of(await client.ask("POST", f"{path}/replay", **PERIOD)) == (409, "WEBHOOK_INACTIVE")


async def test_a_gone_webhook_says_why_keeps_what_happens_and_an_operator_switches_it_on(
    client: Client, sink: Sink
) -> None:
    created = await client.registered(f"{sink.url}/token-of-a-customer", "*")
    path = f"/{created['id']}"
    sink.status = 410
    await client.happened(Status.SENT)

    async def is_off() -> bool:
        return not (await client.ask("GET", path)).json()["active"]

    await eventually(is_off, "the webhook off", timeout_seconds=20)
    off = (await operate(client, "GET", path)).json()
    assert (off["disabledReason"], off["tenantId"], off["origin"]) == ("GONE", client.account.tenant_id, sink.url)
    await eventually(lambda: "webhook_disabled" in client.api.log(), "the api told of it", timeout_seconds=20)
    sink.status = 200
    await client.happened(Status.READ)

    async def is_kept() -> bool:
        return len(await listed(client, created["id"], status="PENDING")) == 1

    await eventually(is_kept, "what happened meanwhile kept", timeout_seconds=20)
    assert code_of(await operate(client, "POST", f"{path}/replay", **PERIOD)) == (409, "WEBHOOK_INACTIVE")
    on = (await operate(client, "POST", f"{path}/enable")).json()
    assert (on["active"], on["disabledReason"], on["disabledSince"]) == (True, None, None)
    await delivered(client, created["id"], 1)
    replayed = await operate(client, "POST", f"{path}/replay", **PERIOD, status="FAILED")
    assert replayed.json()["count"] == 1
    await delivered(client, created["id"], 2)
    [first, _] = (await operate(client, "GET", f"{path}/deliveries")).json()["items"]
    again = await operate(client, "POST", f"{path}/deliveries/{first['id']}/replay")
    assert again.json()["deliveryIds"] == [first["id"]]


async def test_operators_see_a_tenants_webhooks_and_no_token_in_their_urls(client: Client, sink: Sink) -> None:
    created = await client.registered(f"{sink.url}/token-of-a-customer?key=secret", "*")
    answer = await operate(client, "GET", f"?tenantId={client.account.tenant_id}")
    [shown] = answer.json()["items"]
    assert shown["id"] == created["id"]
    assert not any(secret in answer.text for secret in ("token-of", "key=", created["secret"]))
    assert (await operate(client, "GET", f"?tenantId={uuid4()}")).json() == {"items": []}
    assert code_of(await operate(client, "GET", "")) == (400, "VALIDATION_FAILED")
    assert code_of(await operate(client, "GET", f"/{uuid4()}")) == (404, "WEBHOOK_NOT_FOUND")
