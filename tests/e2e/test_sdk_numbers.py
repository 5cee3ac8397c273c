"""The rows of the official SDK's acceptance list about numbers, keys and the other resources."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pilot_status import (
    AuthenticationError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PilotStatusClient,
    ServerError,
    ValidationError,
    parse_customer_webhook,
)
from pilot_status import types as sdk_types
from tests.e2e.client import ARRIVE_SECONDS, Client
from tests.e2e.listening import heard, life_of, listen
from tests.e2e.test_official_sdk import transport_to
from tests.sdk_shapes import fits

from local_stack.customer import Received, WebhookReceiver
from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until


class Counting:
    """The SDK's transport, counting requests."""

    def __init__(self, base_url: str) -> None:
        self._carry, self.count = transport_to(base_url), 0

    def __call__(self, request: Any, timeout: float) -> tuple[int, dict[str, str], str]:
        self.count += 1
        return self._carry(request, timeout)


@pytest.fixture
def operator(system: System) -> Iterator[httpx.Client]:
    headers = {"x-operator-key": system.credentials.operator_key}
    base_url = f"{system.api_url}/v1/admin"
    with httpx.Client(base_url=base_url, headers=headers, timeout=15, trust_env=False) as client:
        yield client


@pytest.fixture
def wire(system: System) -> Counting:
    return Counting(system.api_url)


@pytest.fixture
def tenant_key(account: Account, operator: httpx.Client) -> str:
    """A key of the whole tenant."""
    body = {"projectId": account.project_id, "environment": "LIVE", "name": "tenant", "scope": "tenant"}
    issued = operator.post("/keys", json=body)
    assert issued.status_code == 201, issued.text
    return str(issued.json()["key"])


@pytest.fixture
def tenant(wire: Counting, tenant_key: str) -> PilotStatusClient:
    """The official client with that key."""
    return PilotStatusClient(api_key=tenant_key, transport=wire)


def set_state(system: System, instance: str, state: str) -> None:
    url = f"{system.gateway_url}/simulator/instances/{instance}/state"
    httpx.post(url, json={"state": state}, timeout=15, trust_env=False).raise_for_status()


def connect(system: System, tenant: PilotStatusClient, created: dict[str, Any]) -> str:
    """Scan the code; the number's id once the platform has heard of it."""
    number_id = str(created["instance"]["id"])
    set_state(system, created["instance"]["instanceName"], "open")

    def is_open() -> bool:
        return any(row["id"] == number_id and row["isFullyConnected"] for row in tenant.numbers.list())

    wait_until(is_open, what="the number connected", timeout_seconds=ARRIVE_SECONDS)
    return number_id


def test_row_21_numbers_are_created_connected_and_seen(
    system: System, wire: Counting, tenant: PilotStatusClient
) -> None:
    created = tenant.numbers.create({"name": "Linha 21", "number": "+5511974002101"})
    fits(sdk_types.CreateNumberResult, created)
    number_id = str(created["instance"]["id"])
    fits(sdk_types.NumberConnectResult, tenant.numbers.connect(number_id))
    connect(system, tenant, dict(created))
    with pytest.raises(ConflictError):
        tenant.numbers.connect(number_id)
    live = tenant.numbers.get_status(number_id)
    fits(sdk_types.NumberStatusResult, live)
    assert (live["state"], live["stale"]) == ("OPEN", False)
    assert live["checkedAt"]
    fits(sdk_types.NumberDetail, tenant.numbers.get(number_id))
    fits(list[sdk_types.WhatsAppNumberListItem], tenant.numbers.list())
    unseen = str(tenant.numbers.create({"name": "Linha 21b", "number": "+5511974002102"})["instance"]["id"])
    system.gateway.stop()
    try:
        remembered = tenant.numbers.get_status(number_id)
        fits(sdk_types.NumberStatusResult, remembered)
        assert remembered["stale"] is True
        assert remembered["lastKnownAt"]
        before = wire.count
        with pytest.raises(ServerError) as silent:
            tenant.numbers.connect(unseen)
        assert silent.value.body["code"].startswith("UPSTREAM_")
        assert wire.count - before == 3, "the SDK asks a GET three times"
    finally:
        system.gateway.start()


def test_row_22_a_number_is_changed(tenant: PilotStatusClient) -> None:
    number_id = tenant.numbers.create({"name": "Linha 22", "number": "+5511974002201"})["instance"]["id"]
    for wrong, code in (({}, "EMPTY_PATCH"), ({"piiMode": "STORE_X_DAYS"}, "PII_RETENTION_INVALID")):
        with pytest.raises(ValidationError) as refused:
            tenant.numbers.update(number_id, wrong)
        assert refused.value.body["code"] == code
    stored = tenant.numbers.update(number_id, {"piiMode": "STORE_X_DAYS", "piiRetentionDays": 30})
    fits(sdk_types.UpdateNumberResult, stored)
    assert tenant.numbers.get(number_id)["piiRetentionDays"] == 30
    assert tenant.numbers.update(number_id, {"settings": {"rejectCall": True}})["settings"]["rejectCall"] is True
    assert tenant.numbers.update(number_id, {"settings": {"rejectCall": None}})["settings"]["rejectCall"] is None


def test_row_23_a_number_is_deleted_restored_and_purged(
    system: System, tenant_key: str, tenant: PilotStatusClient, receiver: WebhookReceiver
) -> None:
    wanted = {"name": "Linha 23", "number": "+5511974002301"}
    number_id = str(tenant.numbers.create(wanted)["instance"]["id"])
    listen(system, receiver, number_id, tenant_key=tenant_key)
    deleted = tenant.numbers.delete(number_id)
    fits(sdk_types.DeleteNumberResult, deleted)
    until = datetime.fromisoformat(deleted["restorableUntil"]) - datetime.now(UTC)
    assert timedelta(days=30) - timedelta(minutes=1) < until <= timedelta(days=30)
    with pytest.raises(ConflictError) as soft:
        tenant.numbers.create(wanted)
    assert soft.value.body["code"] == "NUMBER_SOFT_DELETED"
    restored = tenant.numbers.restore(number_id)
    fits(sdk_types.NumberRestoreResult, restored)
    assert restored["requiresReconnect"] is True
    tenant.numbers.delete(number_id)
    assert tenant.numbers.purge(number_id) == {"ok": True}
    again = str(tenant.numbers.create(wanted)["instance"]["id"])
    assert again != number_id
    wait_until(lambda: life_of(receiver, again) == ["number.created"], what="created", timeout_seconds=ARRIVE_SECONDS)
    heard(receiver, "number.created")
    told = [*heard(receiver, "number.removed", 2), *heard(receiver, "number.restored")]
    assert {(data["numberId"], data["phone"], data["displayName"]) for data in told} == {
        (number_id, "+5511974002301", "Linha 23")
    }
    assert life_of(receiver, number_id)[-3:] == ["number.removed", "number.restored", "number.removed"]


def test_row_24_keys_are_listed_and_replaced(system: System, tenant: PilotStatusClient) -> None:
    number_id = connect(system, tenant, dict(tenant.numbers.create({"name": "Linha 24", "number": "+5511974002401"})))
    first = tenant.api_keys.regenerate_number(number_id)
    fits(sdk_types.RegeneratedNumberKey, first)
    rows = tenant.api_keys.list()
    fits(list[sdk_types.NumberApiKeyReveal], rows)
    assert number_id in [row["numberId"] for row in rows]
    old = PilotStatusClient(api_key=first["key"], transport=transport_to(system.api_url))
    assert [row["id"] for row in old.numbers.list()] == [number_id]
    second = tenant.api_keys.regenerate_number(number_id)
    with pytest.raises(AuthenticationError):
        old.numbers.list()
    new = PilotStatusClient(api_key=second["key"], transport=transport_to(system.api_url))
    assert [row["id"] for row in new.numbers.list()] == [number_id]
    with pytest.raises(ForbiddenError) as scope:
        new.api_keys.regenerate_number(number_id)
    assert scope.value.body["code"] == "NUMBER_SCOPE_NOT_ALLOWED"


def test_row_25_templates_projects_figures_and_groups(system: System, account: Account) -> None:
    own = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    fits(list[sdk_types.TemplateListItem], own.templates.list())
    fits(sdk_types.TemplateDetail, own.templates.get("order_ready"))
    with pytest.raises(NotFoundError) as unknown:
        own.templates.get("nope")
    assert unknown.value.body["code"] == "TEMPLATE_NOT_FOUND"
    fits(sdk_types.Project, own.projects.create({"name": "Linha 25"}))
    fits(list[sdk_types.Project], own.projects.list())
    fits(sdk_types.DashboardStats, own.analytics.get_dashboard_stats(tz="America/Sao_Paulo"))
    with pytest.raises(ValidationError) as zone:
        own.analytics.get_dashboard_stats(tz="Mars/Olympus")
    assert zone.value.body["code"] == "TIMEZONE_INVALID"
    fits(list[sdk_types.GroupListItem], own.groups.list())
    with pytest.raises(NotFoundError) as newsletters:
        own.newsletters.list()
    assert newsletters.value.body["code"] == "NOT_IMPLEMENTED"


def test_rest_rows_no_events_and_all_events_and_the_signature_also_on_a_retry(
    client: Client, receiver: WebhookReceiver
) -> None:
    client.register(receiver, path="all")
    none = client.http.post("/webhooks", json={"url": f"{receiver.url}/none", "name": "none", "events": []})
    assert none.status_code == 201, none.text
    receiver.secrets["none"] = none.json()["secret"]
    receiver.refuse("all", times=1)
    sent = client.send("+5547998100099", "para todos")
    client.wait_for(sent["id"], "READ")

    def hooks_of_it() -> list[Received]:
        return [hook for hook in receiver.snapshot() if hook.message_id == sent["id"]]

    def repeated() -> list[Received]:
        """The refusal may meet news of an earlier story's message: whichever it met comes again."""
        told = [hook for hook in receiver.snapshot() if hook.endpoint == "all"]
        ids = [hook.webhook_id for hook in told]
        return [hook for hook in told if ids.count(hook.webhook_id) > 1]

    def is_told() -> bool:
        return {"message.sent", "message.delivered", "message.read"} <= {hook.event for hook in hooks_of_it()}

    wait_until(is_told, what="every event", timeout_seconds=ARRIVE_SECONDS)
    wait_until(lambda: bool(repeated()), what="the refused delivery again", timeout_seconds=ARRIVE_SECONDS)
    hooks = hooks_of_it()
    assert all(hook.verified for hook in hooks)
    assert {hook.endpoint for hook in hooks} == {"all"}, "a webhook without events was told something"
    again = repeated()
    assert len(again) == 2, "the refused delivery comes once more, under the same id"
    assert again[0].body == again[1].body
    for hook in hooks:
        assert parse_customer_webhook(json.loads(hook.body), unknown_events="raise")["event"] == hook.event
