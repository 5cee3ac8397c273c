"""A customer's own number from creation to the last goodbye, through the official SDK."""

from collections.abc import Iterator

import httpx
import pytest
from pilot_status import AuthenticationError, ConflictError, ForbiddenError, NotFoundError, PilotStatusClient
from pilot_status import ValidationError as SdkValidationError
from pilot_status import types as sdk_types
from tests.e2e.client import ARRIVE_SECONDS
from tests.e2e.test_official_sdk import transport_to
from tests.sdk_shapes import fits

from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until

PHONE = "+5511974000001"


@pytest.fixture
def operator(system: System) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{system.api_url}/v1/admin",
        headers={"x-operator-key": system.credentials.operator_key},
        timeout=15,
        trust_env=False,
    ) as client:
        yield client


@pytest.fixture
def tenant(system: System, account: Account, operator: httpx.Client) -> PilotStatusClient:
    """The official client with a key of the whole tenant."""
    body = {"projectId": account.project_id, "environment": "LIVE", "name": "tenant", "scope": "tenant"}
    issued = operator.post("/keys", json=body)
    assert issued.status_code == 201, issued.text
    return PilotStatusClient(api_key=issued.json()["key"], transport=transport_to(system.api_url))


def scan(system: System, instance: str) -> None:
    answer = httpx.post(
        f"{system.gateway_url}/simulator/instances/{instance}/state", json={"state": "open"}, trust_env=False
    )
    answer.raise_for_status()


def test_a_number_is_created_paired_used_deleted_and_purged(system: System, tenant: PilotStatusClient) -> None:
    created = tenant.numbers.create({"name": "Balcão", "number": PHONE})
    fits(sdk_types.CreateNumberResult, created)
    number_id, instance = created["instance"]["id"], created["instance"]["instanceName"]
    scan(system, instance)

    def is_open() -> bool:
        """Told by the gateway's webhook, which was set when the number was created; nobody asks the gateway."""
        return any(row["id"] == number_id and row["isFullyConnected"] for row in tenant.numbers.list())

    wait_until(is_open, what="the number connected", timeout_seconds=ARRIVE_SECONDS)
    with pytest.raises(ConflictError):
        tenant.numbers.connect(number_id)
    fits(sdk_types.NumberStatusResult, tenant.numbers.get_status(number_id))
    fits(sdk_types.NumberDetail, tenant.numbers.get(number_id, refresh=True))
    key = tenant.api_keys.regenerate_number(number_id)
    fits(sdk_types.RegeneratedNumberKey, key)
    own = PilotStatusClient(api_key=key["key"], transport=transport_to(system.api_url))
    sent = own.messages.send({"text": "primeira", "destinationNumber": "+5547991000777"})
    assert sent["sourceNumber"] == PHONE[1:]

    def is_read() -> bool:
        return bool(own.messages.get(sent["id"])["status"] == "READ")

    wait_until(is_read, what="READ", timeout_seconds=ARRIVE_SECONDS)
    assert own.groups.list()[0]["id"].endswith("@g.us")
    with pytest.raises(ForbiddenError) as scope:
        own.api_keys.regenerate_number(number_id)
    assert scope.value.body["code"] == "NUMBER_SCOPE_NOT_ALLOWED"

    fits(sdk_types.DeleteNumberResult, tenant.numbers.delete(number_id))
    with pytest.raises(ConflictError) as deleted:
        tenant.numbers.create({"name": "Balcão", "number": PHONE})
    assert deleted.value.body["code"] == "NUMBER_SOFT_DELETED"

    def is_dead() -> bool:
        try:
            own.numbers.list()
        except AuthenticationError:
            return True
        return False

    wait_until(is_dead, what="the key of a deleted number refused", timeout_seconds=10)
    assert tenant.numbers.restore(number_id)["requiresReconnect"] is True
    tenant.numbers.delete(number_id)
    assert tenant.numbers.purge(number_id) == {"ok": True}
    again = tenant.numbers.create({"name": "Balcão", "number": PHONE})
    assert again["instance"]["id"] != number_id


def test_a_number_is_changed_through_the_sdk(tenant: PilotStatusClient) -> None:
    number_id = tenant.numbers.create({"name": "Loja", "number": "+5511974000002"})["instance"]["id"]
    for wrong, code in (({}, "EMPTY_PATCH"), ({"piiMode": "STORE_X_DAYS"}, "PII_RETENTION_INVALID")):
        with pytest.raises(SdkValidationError) as refused:
            tenant.numbers.update(number_id, wrong)
        assert refused.value.body["code"] == code
    stored = tenant.numbers.update(number_id, {"piiMode": "STORE_X_DAYS", "piiRetentionDays": 30})
    fits(sdk_types.UpdateNumberResult, stored)
    assert stored["piiRetentionDays"] == 30
    reset = tenant.numbers.update_settings(number_id, {"rejectCall": None})
    assert reset["settings"]["rejectCall"] is None
    assert tenant.numbers.pay(number_id) == {"ok": True, "status": "not_required"}
    with pytest.raises(NotFoundError) as dual:
        tenant.numbers.upgrade_to_dual(number_id)
    assert dual.value.body["code"] == "NOT_IMPLEMENTED"


def test_lists_of_the_sdk_have_its_shapes(system: System, account: Account, tenant: PilotStatusClient) -> None:
    own = PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))
    fits(list[sdk_types.TemplateListItem], own.templates.list())
    fits(sdk_types.TemplateDetail, own.templates.get("order_ready"))
    with pytest.raises(NotFoundError) as unknown:
        own.templates.get("nope")
    assert unknown.value.body["code"] == "TEMPLATE_NOT_FOUND"
    fits(sdk_types.Project, own.projects.create({"name": "Segunda loja"}))
    fits(list[sdk_types.Project], own.projects.list())
    fits(list[sdk_types.GroupListItem], own.groups.list())
    fits(list[sdk_types.ApiKeyListItem], own.api_keys.list())
    fits(list[sdk_types.NumberApiKeyReveal], tenant.api_keys.list())
    with pytest.raises(NotFoundError) as newsletters:
        own.newsletters.list()
    assert newsletters.value.body["code"] == "NOT_IMPLEMENTED"
