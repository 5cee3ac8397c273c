"""The sending rows of the official SDK's acceptance list: unmodified SDK, running services, simulated gateway."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx
import pytest
from pilot_status import ConflictError, ForbiddenError, PilotStatusClient, ValidationError
from pilot_status.types import SendMessageAccepted
from tests.e2e.client import Client
from tests.e2e.test_official_sdk import transport_to
from tests.sdk_shapes import fits

from local_stack.operator_api import Account
from local_stack.system import System

PICTURE = "https://example.org/a.png"
LIST = {
    "buttonText": "Abrir",
    "sections": [{"title": "Todos", "rows": [{"title": "Um", "description": "o primeiro", "rowId": "1"}]}],
}


class Wire:
    """The SDK's transport, with the headers of the last answer, which the SDK drops."""

    def __init__(self, base_url: str) -> None:
        self._carry = transport_to(base_url)
        self.headers: dict[str, str] = {}

    def __call__(self, request: Any, timeout: float) -> tuple[int, dict[str, str], str]:
        status, self.headers, body = self._carry(request, timeout)
        return status, self.headers, body


@pytest.fixture
def wire(system: System) -> Wire:
    return Wire(system.api_url)


@pytest.fixture
def sdk(wire: Wire, account: Account) -> PilotStatusClient:
    return PilotStatusClient(api_key=account.api_key, transport=wire)


@pytest.fixture
def to() -> str:
    """A recipient of this test alone."""
    return f"+55479980{next(_numbers):05d}"


_numbers = count(1)


def sent_to(client: Client, to: str) -> list[dict[str, Any]]:
    return [row for row in client.ledger() if to.removeprefix("+") in str(row)]


def refused(sdk: PilotStatusClient, message: dict[str, Any], kind: type[Exception] = ValidationError) -> str:
    with pytest.raises(kind) as raised:
        sdk.messages.send(message)
    assert str(raised.value)
    assert not str(raised.value).startswith("HTTP ")
    return str(raised.value.body["code"])  # type: ignore[attr-defined]


def test_row_1_a_text_is_sent_once(sdk: PilotStatusClient, client: Client, to: str) -> None:
    accepted = sdk.messages.send({"text": "olá", "destinationNumber": to})
    fits(SendMessageAccepted, accepted)
    assert accepted["status"] == "QUEUED"
    assert "flowToken" not in accepted
    client.wait_for(accepted["id"], "READ")
    assert len(sent_to(client, to)) == 1


def test_rows_2_and_3_a_template_by_name_and_its_missing_variable(
    sdk: PilotStatusClient, client: Client, to: str
) -> None:
    message = {"templateId": "login_code", "variables": {"name": "Ana", "code": "123"}, "destinationNumber": to}
    accepted = sdk.messages.send(message)
    client.wait_for(accepted["id"], "READ")
    assert "Ana, your code is 123." in str(sent_to(client, to))
    assert refused(sdk, {**message, "variables": {"name": "Ana"}}) == "MISSING_TEMPLATE_VARIABLES"


def test_row_4_media_without_type_is_an_image(sdk: PilotStatusClient, client: Client, to: str) -> None:
    accepted = sdk.messages.send({"media": PICTURE, "destinationNumber": to})
    client.wait_for(accepted["id"], "READ")
    assert len(sent_to(client, to)) == 1


def test_row_5_three_buttons_and_no_fourth(sdk: PilotStatusClient, client: Client, to: str) -> None:
    buttons = [{"type": "reply", "label": label} for label in ("Sim", "Não", "Talvez", "Nunca")]
    message = {"text": "oi", "header": {"type": "text", "content": "Pedido"}, "footer": "Loja", "destinationNumber": to}
    accepted = sdk.messages.send({**message, "buttons": buttons[:3]})
    client.wait_for(accepted["id"], "READ")
    assert refused(sdk, {**message, "buttons": buttons}) == "CONTENT_INVALID"


def test_row_6_a_list_and_not_beside_a_template(sdk: PilotStatusClient, client: Client, to: str) -> None:
    accepted = sdk.messages.send({"text": "oi", "list": LIST, "destinationNumber": to})
    client.wait_for(accepted["id"], "READ")
    assert refused(sdk, {"text": "oi", "list": LIST, "templateId": "login_code", "destinationNumber": to})


def test_row_7_exactly_one_destination_and_one_mode(sdk: PilotStatusClient, to: str) -> None:
    assert refused(sdk, {"text": "oi", "destinationNumber": to, "groupId": "1@g.us"}) == "DESTINATION_INVALID"
    assert refused(sdk, {"text": "oi"}) == "DESTINATION_INVALID"
    assert refused(sdk, {}) == "DESTINATION_INVALID"


def test_row_8_every_optional_field_may_be_none(sdk: PilotStatusClient, to: str) -> None:
    optional = ("templateId", "media", "mediaType", "deliverAt", "deliverUntil", "header", "footer", "buttons", "list")
    more = ("labels", "markRead", "groupId", "newsletterId", "carousel", "flow", "marketingOptions")
    nothing = dict.fromkeys((*optional, *more))
    assert sdk.messages.send({**nothing, "text": "oi", "destinationNumber": to})["status"] == "QUEUED"


def test_rows_9_and_10_an_idempotency_key(sdk: PilotStatusClient, wire: Wire, client: Client, to: str) -> None:
    message = {"text": "uma vez", "destinationNumber": to}
    first = sdk.messages.send(message, idempotency_key=f"k{to}")
    assert "idempotent-replayed" not in wire.headers
    again = sdk.messages.send(message, idempotency_key=f"k{to}")
    assert again == first
    assert wire.headers["idempotent-replayed"] == "true"
    with pytest.raises(ConflictError) as reused:
        sdk.messages.send({**message, "text": "outra"}, idempotency_key=f"k{to}")
    assert reused.value.body["code"] == "IDEMPOTENCY_KEY_REUSED"
    client.wait_for(first["id"], "READ")
    assert len(sent_to(client, to)) == 1


def test_row_11_twenty_threads_send_one_message(sdk: PilotStatusClient, client: Client, to: str) -> None:
    message = {"text": "uma só", "destinationNumber": to}

    def send(_: int) -> dict[str, Any]:
        return dict(sdk.messages.send(message, idempotency_key=f"k{to}"))

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send, range(20)))
    assert all(answer == answers[0] for answer in answers)
    client.wait_for(answers[0]["id"], "READ")
    assert len(sent_to(client, to)) == 1


def test_row_12_an_error_leaves_the_key_free_and_a_long_key_is_refused(sdk: PilotStatusClient, to: str) -> None:
    with pytest.raises(ValidationError):
        sdk.messages.send({"text": " ", "destinationNumber": to}, idempotency_key=f"k{to}")
    assert sdk.messages.send({"text": "oi", "destinationNumber": to}, idempotency_key=f"k{to}")["id"]
    with pytest.raises(ValidationError) as long:
        sdk.messages.send({"text": "oi", "destinationNumber": to}, idempotency_key="k" * 256)
    assert long.value.body["code"] == "IDEMPOTENCY_KEY_INVALID"


def test_row_20_a_tenant_key_cannot_send(system: System, wire: Wire, account: Account, to: str) -> None:
    answer = _operator_post(system, "keys", projectId=account.project_id, environment="LIVE", name="t", scope="tenant")
    tenant = PilotStatusClient(api_key=answer["key"], transport=wire)
    message = {"text": "oi", "destinationNumber": to}
    assert refused(tenant, message, ForbiddenError) == "TENANT_SCOPE_NOT_ALLOWED"


def _operator_post(system: System, path: str, **body: Any) -> dict[str, Any]:
    answer = httpx.post(
        f"{system.api_url}/v1/admin/{path}",
        json=body,
        headers={"x-operator-key": system.credentials.operator_key},
        timeout=15,
        trust_env=False,
    )
    assert answer.status_code == 201, answer.text
    return dict(answer.json())
