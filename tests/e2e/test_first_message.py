"""The first message: from an HTTP call to READ and to a signed webhook, explained step by step."""

import json

import httpx
from pilot_status import parse_customer_webhook
from tests.e2e.client import ARRIVE_SECONDS, Client

from local_stack.customer import WebhookReceiver
from local_stack.environment import Service
from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until


def test_a_message_travels_to_read_and_to_the_customers_webhook(
    system: System, client: Client, receiver: WebhookReceiver
) -> None:
    client.register(receiver, path="first")
    accepted = client.http.post(
        "/messages/send",
        json={
            "destinationNumber": "+55 (47) 99100-0001",
            "templateId": "order_ready",
            "variables": {"name": "Ana", "order": "PX-1"},
        },
    )
    assert accepted.status_code == 202
    message_id = accepted.json()["id"]
    message = client.wait_for(message_id, "READ")
    assert message["destinationNumber"] == "+5547991000001"
    assert message["template"] == "order_ready"
    assert message["errorCode"] is None
    assert message["duplicatePossible"] is False
    for reference in (accepted.json()["correlationId"], message["externalMessageId"]):
        assert client.read(reference)["id"] == message_id

    sends = [row for row in client.ledger() if row["key_id"] == message["externalMessageId"]]
    assert [row["text"] for row in sends] == ["Olá Ana 👋 order PX-1 is ready."]

    def told() -> set[str]:
        return {hook.event for hook in receiver.snapshot() if hook.message_id == message_id}

    wait_until(lambda: "message.read" in told(), what="webhooks", timeout_seconds=ARRIVE_SECONDS)
    hooks = [hook for hook in receiver.snapshot() if hook.message_id == message_id]
    assert all(hook.verified for hook in hooks)
    assert len(hooks) == len({hook.event for hook in hooks}), "an event was told twice"
    for hook in hooks:
        assert parse_customer_webhook(json.loads(hook.body), unknown_events="raise")["event"] == hook.event


def test_the_timeline_explains_where_a_message_was(client: Client) -> None:
    sent = client.send("+5547991000002", "explain me")
    client.wait_for(sent["id"], "READ")
    answer = client.http.get(f"/messages/{sent['id']}/timeline")
    steps = [step["what"] for step in answer.json()["steps"]]
    assert steps[0] == "accepted"
    assert "dispatched" in steps
    assert "receipt" in steps


def test_every_service_is_ready_and_shows_its_own_metrics(system: System, account: Account) -> None:
    for service in Service:
        url = system.ports.url(service)
        assert httpx.get(f"{url}/live", trust_env=False).status_code == 200
        assert httpx.get(f"{url}/ready", trust_env=False).status_code == 200
        metrics = httpx.get(f"{url}/metrics", trust_env=False)
        assert metrics.status_code == 200
        assert "pilot_outbox_published_total" in metrics.text


def test_wrong_credential_at_the_edge_is_401_and_anything_else_200(system: System, account: Account) -> None:
    edge = f"{system.ports.url(Service.STATUS_INGEST)}/webhooks/evolution"
    token = system.credentials.ingest_token
    assert httpx.post(f"{edge}/wrong", json={}, trust_env=False).status_code == 401
    for body in (
        b"",
        b"not json",
        b"null",
        b'{"event": 7}',
        b'{"data": null, "event": "messages.update"}',
        b"\xff\xfe",
    ):
        answer = httpx.post(f"{edge}/{token}", content=body, trust_env=False)
        assert answer.status_code == 200, (body, answer.text)
