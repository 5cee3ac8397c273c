"""The official SDK, unmodified: its public `transport` argument points it at this system."""

import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from pilot_status import AuthenticationError, NotFoundError, PilotStatusClient, ValidationError
from tests.e2e.client import ARRIVE_SECONDS

from local_stack.operator_api import Account
from local_stack.system import System
from local_stack.waiting import wait_until

Transport = Callable[[urllib.request.Request, float], tuple[int, dict[str, str], str]]


def transport_to(base_url: str) -> Transport:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def carry(request: urllib.request.Request, timeout: float) -> tuple[int, dict[str, str], str]:
        if not request.full_url.startswith(base_url):  # the SDK repeats a GET with the same request
            request.full_url = base_url + request.full_url.split("pilotstatus.com.br", 1)[1]
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read().decode()

    return carry


@pytest.fixture
def sdk(system: System, account: Account) -> PilotStatusClient:
    return PilotStatusClient(api_key=account.api_key, transport=transport_to(system.api_url))


def test_sdk_sends_a_template_and_reads_it_to_read(sdk: PilotStatusClient) -> None:
    sent: dict[str, Any] = sdk.messages.send(
        {
            "templateId": "order_ready",
            "variables": {"name": "Bruno", "order": "PX-2"},
            "destinationNumber": "+5547991000003",
        }
    )
    assert sent["status"] == "QUEUED"
    seen: list[str] = []

    def is_read() -> bool:
        status = sdk.messages.get(sent["id"])["status"]
        if not seen or seen[-1] != status:
            seen.append(status)
        return bool(status == "READ")

    wait_until(is_read, what="READ", timeout_seconds=ARRIVE_SECONDS)
    order = ["QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ"]
    assert [order.index(status) for status in seen] == sorted(order.index(status) for status in seen)
    details = sdk.messages.get(sent["correlationId"])
    assert details["id"] == sent["id"]
    assert details["sentAt"] or details["deliveredAt"] or details["readAt"]


def test_sdk_sends_text_with_every_optional_field_none(sdk: PilotStatusClient) -> None:
    sent = sdk.messages.send(
        {
            "text": "olá",
            "destinationNumber": "+5547991000004",
            "templateId": None,
            "deliverAt": None,
            "header": None,
            "footer": None,
        }
    )
    assert sent["status"] == "QUEUED"
    assert "template" not in sdk.messages.get(sent["id"])


def test_sdk_understands_our_errors(sdk: PilotStatusClient, system: System) -> None:
    stranger = PilotStatusClient(api_key="ps_live_nobody", transport=transport_to(system.api_url))
    with pytest.raises(AuthenticationError) as unknown_key:
        stranger.messages.get("x")
    assert unknown_key.value.body["code"] == "API_KEY_INVALID"
    with pytest.raises(ValidationError) as bad_destination:
        sdk.messages.send({"text": "olá", "destinationNumber": "n/a"})
    assert bad_destination.value.body["code"] == "DESTINATION_INVALID"
    assert str(bad_destination.value) != "HTTP 400"
    with pytest.raises(NotFoundError) as unknown_template:
        sdk.messages.send({"templateId": "nope", "destinationNumber": "+5547991000005"})
    assert unknown_template.value.body["code"] == "TEMPLATE_NOT_FOUND"
    with pytest.raises(ValidationError):
        sdk.messages.send({})
