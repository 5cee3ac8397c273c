"""A number's life as its owner's webhook hears it, and what becomes of a message that waits when it is deleted."""

import contextlib
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pilot_status import AuthenticationError, ConflictError, PilotStatusClient
from tests.e2e.client import ARRIVE_SECONDS
from tests.e2e.listening import heard, life_of, listen
from tests.e2e.test_official_sdk import transport_to

from local_stack.customer import WebhookReceiver
from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until


@pytest.fixture
def tenant_key(system: System, account: Account) -> str:
    """A key of the whole tenant."""
    issued = httpx.post(
        f"{system.api_url}/v1/admin/keys",
        json={"projectId": account.project_id, "environment": "LIVE", "name": "tenant", "scope": "tenant"},
        headers={"x-operator-key": system.credentials.operator_key},
        timeout=15,
        trust_env=False,
    )
    assert issued.status_code == 201, issued.text
    return str(issued.json()["key"])


def connect(system: System, tenant: PilotStatusClient, number_id: str, instance: str) -> None:
    """Scan the code; returns once the platform has heard of it."""
    url = f"{system.gateway_url}/simulator/instances/{instance}/state"
    httpx.post(url, json={"state": "open"}, timeout=15, trust_env=False).raise_for_status()

    def is_open() -> bool:
        return any(row["id"] == number_id and row["isFullyConnected"] for row in tenant.numbers.list())

    wait_until(is_open, what="the number connected", timeout_seconds=ARRIVE_SECONDS)


def send_once_open(own: PilotStatusClient, to: str) -> str:
    """The api remembers for a moment that the number was closed; the id of the message it took at last."""
    taken: list[str] = []

    def is_taken() -> bool:
        with contextlib.suppress(ConflictError):
            taken.append(own.messages.send({"destinationNumber": to, "text": "de volta"})["id"])
        return bool(taken)

    wait_until(is_taken, what="a message taken", timeout_seconds=ARRIVE_SECONDS)
    return taken[0]


def test_what_waits_on_a_deleted_number_fails_and_a_restored_one_sends_again(
    system: System, tenant_key: str, receiver: WebhookReceiver
) -> None:
    tenant = PilotStatusClient(api_key=tenant_key, transport=transport_to(system.api_url))
    created = tenant.numbers.create({"name": "Linha 90", "number": "+5511974009001"})["instance"]
    number_id, instance = str(created["id"]), created["instanceName"]
    listen(system, receiver, number_id, tenant_key=tenant_key)
    connect(system, tenant, number_id, instance)
    heard(receiver, "number.connected")
    key = tenant.api_keys.regenerate_number(number_id)["key"]
    own = PilotStatusClient(api_key=key, transport=transport_to(system.api_url))
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    waiting = own.messages.send({"destinationNumber": "+5547998100023", "text": "mais tarde", "deliverAt": later})

    tenant.numbers.delete(number_id)
    heard(receiver, "number.removed")
    [failed] = heard(receiver, "message.failed")
    assert (failed["id"], failed["errorCode"]) == (waiting["id"], "NUMBER_NOT_FOUND_REMOVED")
    assert failed["error"]

    tenant.numbers.restore(number_id)
    heard(receiver, "number.restored")

    def is_key_back() -> bool:
        try:
            own.numbers.list()
        except AuthenticationError:
            return False
        return True

    wait_until(is_key_back, what="the number's key back", timeout_seconds=ARRIVE_SECONDS)
    details = own.messages.get(waiting["id"])
    assert (details["status"], details["errorCode"]) == ("FAILED", "NUMBER_NOT_FOUND_REMOVED")

    connect(system, tenant, number_id, instance)
    heard(receiver, "number.connected", 2)
    sent = send_once_open(own, "+5547998100024")

    def is_read() -> bool:
        return bool(own.messages.get(sent)["status"] == "READ")

    wait_until(is_read, what="a message of the restored number READ", timeout_seconds=ARRIVE_SECONDS)
    told = [event for event in life_of(receiver, number_id) if event != "number.created"]
    assert told == ["number.connected", "number.removed", "number.restored", "number.connected"]
