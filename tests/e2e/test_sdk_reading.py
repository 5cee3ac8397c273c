"""The reading rows of the official SDK's acceptance list: what became of a message, by id, list and webhook."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pilot_status import (
    AuthenticationError,
    ForbiddenError,
    PilotStatusClient,
    ValidationError,
    parse_customer_webhook,
)
from pilot_status.types import MessageDetails, MessageHistoryResult
from tests.e2e.client import ARRIVE_SECONDS, Client
from tests.e2e.test_official_sdk import transport_to
from tests.sdk_shapes import fits

from local_stack.customer import WebhookReceiver
from local_stack.operator_api import Account, Operator
from local_stack.system import System
from local_stack.waiting import wait_until

ORDER = ["QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ"]
ABSENT, BROKEN, SLOW, SLASHED = (f"+554799810000{digit}" for digit in (1, 2, 3, 4))


@pytest.fixture
def sdk(system: System, account: Account) -> PilotStatusClient:
    return PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))


@pytest.fixture
def operator(system: System) -> Iterator[httpx.Client]:
    headers = {"x-operator-key": system.credentials.operator_key}
    base_url = f"{system.api_url}/v1/admin"
    with httpx.Client(base_url=base_url, headers=headers, timeout=15, trust_env=False) as client:
        yield client


def issue(operator: httpx.Client, account: Account, **more: Any) -> dict[str, Any]:
    answer = operator.post("/keys", json={"projectId": account.project_id, "environment": "LIVE", "name": "k", **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def script_for(system: System, account: Account, phone: str, **behaviour: Any) -> None:
    """Have the gateway misbehave for one recipient."""
    body = {"match": {"instance": account.instance, "number": phone.removeprefix("+")}, **behaviour}
    answer = httpx.put(f"{system.gateway_url}/simulator/script", json=body, timeout=15, trust_env=False)
    assert answer.status_code < 300, answer.text


def events_of(receiver: WebhookReceiver, message_id: str) -> list[dict[str, Any]]:
    return [json.loads(hook.body) for hook in receiver.snapshot() if hook.message_id == message_id]


def test_row_13_a_message_by_each_of_its_ids(sdk: PilotStatusClient, client: Client) -> None:
    sent = sdk.messages.send({"text": "de volta", "destinationNumber": "+5547998100010"})
    external_id = client.wait_for(sent["id"], "READ")["externalMessageId"]
    found = [sdk.messages.get(reference) for reference in (sent["id"], sent["correlationId"], external_id)]
    fits(MessageDetails, found[0])
    assert found[0] == found[1] == found[2]
    assert "template" not in found[0]
    assert (found[0]["errorCode"], found[0]["errorMessage"]) == (None, None)
    with pytest.raises(Exception, match="There is no such message") as unknown:
        sdk.messages.get("3EB0/with/slashes")
    assert unknown.value.body["code"] == "MESSAGE_NOT_FOUND"  # type: ignore[attr-defined]


def test_row_13_a_message_by_a_provider_id_with_slashes(
    system: System, account: Account, sdk: PilotStatusClient, client: Client
) -> None:
    script_for(system, account, SLASHED, send=[{"act": "accept", "key_prefix": "AC/DC//"}])
    sent = sdk.messages.send({"text": "com barras", "destinationNumber": SLASHED})
    external_id = client.wait_for(sent["id"], "READ")["externalMessageId"]
    assert external_id.startswith("AC/DC//")
    found = sdk.messages.get(external_id)
    fits(MessageDetails, found)
    assert found == sdk.messages.get(sent["id"])


def test_row_14_states_only_move_forward(system: System, account: Account, sdk: PilotStatusClient) -> None:
    delays = {"SERVER_ACK": 900, "DELIVERY_ACK": 1_800, "READ": 2_700}
    script_for(system, account, SLOW, send=["accept"], receipts={"delays_ms": delays, "duplicates": 2})
    sent = sdk.messages.send({"text": "passo a passo", "destinationNumber": SLOW})
    seen: list[dict[str, Any]] = []

    def is_read() -> bool:
        seen.append(dict(sdk.messages.get(sent["id"])))
        return bool(seen[-1]["status"] == "READ")

    wait_until(is_read, what="READ", timeout_seconds=ARRIVE_SECONDS)
    places = [ORDER.index(details["status"]) for details in seen]
    assert places == sorted(places)
    assert {"SENT", "DELIVERED", "READ"} <= {details["status"] for details in seen}
    last = seen[-1]
    assert last["createdAt"] <= last["sentAt"] <= last["deliveredAt"] <= last["readAt"]


def test_row_15_a_recipient_without_whatsapp(
    system: System, account: Account, sdk: PilotStatusClient, client: Client, receiver: WebhookReceiver
) -> None:
    client.register(receiver, path="row15")
    script_for(system, account, ABSENT, send=["refuse_not_exists"])
    sent = sdk.messages.send({"text": "ninguém", "destinationNumber": ABSENT})
    details = client.wait_for(sent["id"], "FAILED")
    assert details["errorCode"] == "WHATSAPP_NOT_EXIST"
    assert sdk.messages.get(sent["id"])["errorMessage"]
    wait_until(lambda: bool(events_of(receiver, sent["id"])), what="message.failed", timeout_seconds=ARRIVE_SECONDS)
    failed = [body for body in events_of(receiver, sent["id"]) if body["event"] == "message.failed"]
    assert len(failed) == 1
    parsed = parse_customer_webhook(failed[0], unknown_events="raise")
    assert isinstance(parsed["data"]["error"], str)


def test_row_18_time_is_up_after_an_attempt(
    system: System, account: Account, sdk: PilotStatusClient, client: Client, receiver: WebhookReceiver
) -> None:
    client.register(receiver, path="row18")
    script_for(system, account, BROKEN, send=[{"act": "rate_limited_429", "retry_after": "1"}])
    until = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    sent = sdk.messages.send({"text": "tarde demais", "destinationNumber": BROKEN, "deliverUntil": until})
    details = client.wait_for(sent["id"], "FAILED")
    assert details["errorCode"] == "EXPIRED_AFTER_ATTEMPTS"
    wait_until(lambda: bool(events_of(receiver, sent["id"])), what="message.failed", timeout_seconds=ARRIVE_SECONDS)
    assert [body["event"] for body in events_of(receiver, sent["id"])] == ["message.failed"]
    assert "tarde demais" not in str(client.ledger())


def test_row_18_time_is_up_while_the_provider_is_down(system: System, receiver: WebhookReceiver) -> None:
    gateway, gateway_url = system.new_gateway()
    gateway.start()
    with Operator(system, gateway_url=gateway_url) as operator:
        account = operator.open_account(instance="lighthouse", templates={})
    gateway.kill()
    sdk = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    with Client(system, account) as client:
        client.register(receiver, path="row18down")
        until = (datetime.now(UTC) + timedelta(seconds=8)).isoformat()
        sent = sdk.messages.send({"text": "no escuro", "destinationNumber": BROKEN, "deliverUntil": until})
        details = client.wait_for(sent["id"], "FAILED")
        steps = client.http.get(f"/messages/{sent['id']}/timeline").json()["steps"]
    assert details["errorCode"] == "EXPIRED_AFTER_ATTEMPTS"
    assert sdk.messages.get(sent["id"])["errorCode"] == "EXPIRED_AFTER_ATTEMPTS"
    assert "no escuro" not in str(steps)
    wait_until(lambda: bool(events_of(receiver, sent["id"])), what="message.failed", timeout_seconds=ARRIVE_SECONDS)
    assert [body["event"] for body in events_of(receiver, sent["id"])] == ["message.failed"]


def test_row_19_the_history_of_a_number(
    system: System, account: Account, operator: httpx.Client, sdk: PilotStatusClient, client: Client
) -> None:
    sent = client.send("+5547998100019", "para a história")
    client.wait_for(sent["id"], "READ")
    page = sdk.messages.history(page_size=100)
    fits(MessageHistoryResult, page)
    assert sent["id"] in [row["id"] for row in page["messages"]]
    with pytest.raises(ValidationError) as period:
        sdk.messages.history(start_date="2026-02-02", end_date="2026-02-01")
    assert period.value.body["code"] == "INVALID_DATE_RANGE"
    hosts: list[str] = []
    carry = transport_to(system.api_url)

    def watching(request: Any, timeout: float) -> tuple[int, dict[str, str], str]:
        hosts.append(request.host)
        return carry(request, timeout)

    key = issue(operator, account, scope="tenant")["key"]
    tenant = PilotStatusClient(api_key=key, transport=watching)
    with pytest.raises(ForbiddenError) as scope:
        tenant.messages.history()
    assert scope.value.body["code"] == "TENANT_SCOPE_NOT_ALLOWED"
    named = tenant.with_number(account.number_id).messages.history(page_size=100)
    assert sent["id"] in [row["id"] for row in named["messages"]]
    assert len(hosts) == 2, "a call went past the transport"


def test_row_20_a_revoked_key_is_no_key(system: System, account: Account, operator: httpx.Client) -> None:
    issued = issue(operator, account, numberId=account.number_id)
    old = PilotStatusClient(api_key=issued["key"], transport=transport_to(system.api_url))
    message = {"text": "ainda", "destinationNumber": "+5547998100020"}
    assert old.messages.send(message)["status"] == "QUEUED"
    assert operator.delete(f"/keys/{issued['id']}").status_code == 200

    def is_refused() -> bool:
        try:
            old.numbers.list()
        except AuthenticationError:
            return True
        return False

    wait_until(is_refused, what="the revoked key refused", timeout_seconds=10)
    with pytest.raises(AuthenticationError) as refused:
        old.messages.send(message)
    assert refused.value.body["code"] == "API_KEY_INVALID"
