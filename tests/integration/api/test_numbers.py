"""A client's numbers over a real gateway process: create, pair, watch, change, delete, restore, purge."""

from itertools import count
from uuid import uuid4

import pytest
from pilot_status import types as sdk
from tests.sdk_shapes import fits

from .customers import Customer, instances, new_customer, set_state
from .running import at_once, code_of, soon

_phones = count(5511970000001)


@pytest.fixture
def phone() -> str:
    return f"+{next(_phones)}"


async def test_created_paired_and_seen(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    fits(sdk.CreateNumberResult, created)
    assert created["qrcodeBase64"].startswith("data:image/png;base64,")
    assert created["pairingCode"][4] == "-"
    assert created["linkedApiKeyId"] is None
    number_id, instance = created["instance"]["id"], created["instance"]["instanceName"]
    assert (await instances(customer.api))[instance] == "connecting"
    pairing = await customer.done("GET", f"numbers/{number_id}/connect")
    fits(sdk.NumberConnectResult, pairing)
    assert pairing["qrcodeBase64"]
    await set_state(customer.api, instance, "open")
    status = await customer.done("GET", f"numbers/{number_id}/status")
    fits(sdk.NumberStatusResult, status)
    assert (status["state"], status["stale"]) == ("OPEN", False)
    assert status["checkedAt"]
    [listed] = await customer.done("GET", "numbers")
    fits(sdk.WhatsAppNumberListItem, listed)
    assert (listed["number"], listed["isFullyConnected"], listed["state"]) == (phone[1:], True, "OPEN")
    detail = await customer.done("GET", f"numbers/{number_id}", refresh=1)
    fits(sdk.NumberDetail, detail)
    assert detail["state"] == "OPEN"
    again = await customer.call("GET", f"numbers/{number_id}/connect")
    assert code_of(again) == (409, "NUMBER_ALREADY_CONNECTED")


async def test_everybody_hears_of_a_new_number(customer: Customer, phone: str) -> None:
    customer.api.broker_wire.cut()
    created = await customer.create_number(phone)
    told = await customer.api.rows(
        "SELECT 1 FROM api.outbox WHERE type = 'number.configured.v1' AND convert_from(body, 'UTF8') LIKE $1",
        f"%{created['instance']['id']}%",
    )
    assert len(told) == 1


async def test_a_silent_gateway_leaves_what_was_last_seen(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    number_id = created["instance"]["id"]
    customer.api.gateway_wire.cut()
    assert code_of(await customer.call("GET", f"numbers/{number_id}/status")) == (503, "UPSTREAM_ERROR")
    customer.api.gateway_wire.mend()
    await set_state(customer.api, created["instance"]["instanceName"], "open")
    await customer.done("GET", f"numbers/{number_id}/status")
    customer.api.gateway_wire.cut()
    remembered = await customer.done("GET", f"numbers/{number_id}/status")
    fits(sdk.NumberStatusResult, remembered)
    assert (remembered["state"], remembered["stale"]) == ("OPEN", True)
    assert remembered["lastKnownAt"]
    assert "checkedAt" not in remembered
    assert (await customer.done("GET", f"numbers/{number_id}", refresh=1))["state"] == "OPEN"


async def test_a_mute_gateway_is_a_timeout(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    customer.api.gateway_wire.mute()
    answer = await customer.call("GET", f"numbers/{created['instance']['id']}/status")
    assert code_of(answer) == (503, "UPSTREAM_TIMEOUT")
    assert answer.headers["retry-after"]


async def test_a_failed_creation_leaves_nothing_behind(customer: Customer, phone: str) -> None:
    customer.api.gateway_wire.cut()
    refused = await customer.call("POST", "numbers", body={"name": "Loja", "number": phone})
    assert code_of(refused) == (503, "UPSTREAM_ERROR")
    customer.api.gateway_wire.mend()
    assert await customer.done("GET", "numbers") == []
    assert (await customer.create_number(phone))["qrcodeBase64"]


async def test_a_gateway_that_lost_the_instance_gets_it_again(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    instance = created["instance"]["instanceName"]
    (await customer.api.gateway.client.delete(f"/instance/delete/{instance}")).raise_for_status()
    status = await customer.done("GET", f"numbers/{created['instance']['id']}/status")
    assert status["state"] == "CLOSE"
    pairing = await customer.done("GET", f"numbers/{created['instance']['id']}/connect")
    assert pairing["qrcodeBase64"]
    assert instance in await instances(customer.api)


@pytest.mark.parametrize(
    "given", ["55 11 9", "n/a", "123456789", "+55 11 97000 0000 0000 0", "０１１９７００００００００"]
)
async def test_what_is_no_phone_number(customer: Customer, given: str) -> None:
    answer = await customer.call("POST", "numbers", body={"name": "Loja", "number": given})
    assert code_of(answer) == (400, "PHONE_INVALID")
    assert answer.json()["details"][0]["field"] == "number"


async def test_a_phone_number_is_created_once_also_at_once(customer: Customer, phone: str) -> None:
    written = f"{phone[:3]} ({phone[3:5]}) {phone[5:10]}-{phone[10:]}"
    bodies = [{"name": "Loja", "number": written} for _ in range(5)]
    answers = await at_once(*(customer.call("POST", "numbers", body=body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
    assert {code_of(answer)[1] for answer in answers if answer.is_error} == {"NUMBER_ALREADY_EXISTS"}
    other = await new_customer(customer.api)
    assert (await other.create_number(phone))["instance"]["number"] == phone[1:]


async def test_a_numbers_key_moves_to_the_number_it_creates(customer: Customer) -> None:
    first = await customer.create_number(f"+{next(_phones)}")
    key = await customer.number_key(first["instance"]["id"])
    stays = await customer.create_number(f"+{next(_phones)}", key=key, linkToApiKey=False)
    assert stays["linkedApiKeyId"] is None
    moved = await customer.create_number(f"+{next(_phones)}", key=key)
    assert moved["linkedApiKeyId"]

    async def has_moved() -> bool:
        listed = await customer.done("GET", "numbers", key=key)
        return [row["id"] for row in listed] == [moved["instance"]["id"]]

    await soon(has_moved, "the key standing for the new number")
    unlinked = await customer.create_number(f"+{next(_phones)}", key=customer.account.key)
    assert unlinked["linkedApiKeyId"] is None


async def test_a_numbers_key_reaches_its_own_number_only(customer: Customer) -> None:
    own, other = [(await customer.create_number(f"+{next(_phones)}"))["instance"]["id"] for _ in range(2)]
    key = await customer.number_key(own)
    assert [row["id"] for row in await customer.done("GET", "numbers", key=key)] == [own]
    assert (await customer.done("GET", f"numbers/{own}", key=key))["id"] == own
    for method, path, body in verbs_of(other):
        assert (await customer.call(method, path, key=key, body=body)).status_code in (403, 404), path


def verbs_of(number_id: str) -> list[tuple[str, str, object]]:
    return [
        ("GET", f"numbers/{number_id}", None),
        ("GET", f"numbers/{number_id}/connect", None),
        ("GET", f"numbers/{number_id}/status", None),
        ("PATCH", f"numbers/{number_id}", {"piiMode": "RELAY_ONLY"}),
        ("POST", f"numbers/{number_id}/restore", None),
        ("POST", f"numbers/{number_id}/pay", None),
        ("DELETE", f"numbers/{number_id}", None),
        ("DELETE", f"numbers/{number_id}/purge", None),
    ]


async def test_another_tenants_number_does_not_exist(customer: Customer, phone: str) -> None:
    number_id = (await customer.create_number(phone))["instance"]["id"]
    stranger = await new_customer(customer.api)
    for method, path, body in [*verbs_of(number_id), *verbs_of(str(uuid4())), *verbs_of("nope")]:
        assert code_of(await stranger.call(method, path, body=body)) == (404, "NUMBER_NOT_FOUND"), (method, path)
    assert await stranger.done("GET", "numbers") == []
    assert (await customer.done("GET", f"numbers/{number_id}"))["piiMode"] == "STORE_INDEFINITE"


async def test_a_projects_key_looks_and_creates_but_changes_nothing(customer: Customer, phone: str) -> None:
    number_id = (await customer.create_number(phone))["instance"]["id"]
    key = customer.account.key
    assert [row["id"] for row in await customer.done("GET", "numbers", key=key)] == [number_id]
    for method, path, body in verbs_of(number_id)[3:]:
        answer = await customer.call(method, path, key=key, body=body)
        assert code_of(answer) == (403, "NUMBER_SCOPE_NOT_ALLOWED"), path


async def test_settings_and_privacy_change_bit_by_bit(customer: Customer, phone: str) -> None:
    path = f"numbers/{(await customer.create_number(phone, settings={'ignoreGroups': True}))['instance']['id']}"
    nothings: list[dict[str, object]] = [{}, {"settings": {}}, {"name": "Outra"}, {"piiMode": None}]
    for nothing in nothings:
        assert code_of(await customer.call("PATCH", path, body=nothing)) == (400, "EMPTY_PATCH")
    without_days = await customer.call("PATCH", path, body={"piiMode": "STORE_X_DAYS"})
    assert code_of(without_days) == (400, "PII_RETENTION_INVALID")
    for days in (0, 3651, "30", True):
        answer = await customer.call("PATCH", path, body={"piiMode": "STORE_X_DAYS", "piiRetentionDays": days})
        assert answer.status_code == 400, days
    stored = await customer.done("PATCH", path, body={"piiMode": "STORE_X_DAYS", "piiRetentionDays": 30})
    fits(sdk.UpdateNumberResult, stored)
    assert (stored["piiMode"], stored["piiRetentionDays"]) == ("STORE_X_DAYS", 30)
    assert stored["settings"]["ignoreGroups"] is True
    changed = await customer.done("PATCH", path, body={"settings": {"rejectCall": False, "markReadOnSend": False}})
    assert (changed["settings"]["rejectCall"], changed["settings"]["markReadOnSend"]) == (False, False)
    assert changed["piiRetentionDays"] == 30
    reset = await customer.done("PATCH", path, body={"settings": {"rejectCall": None}, "piiMode": "RELAY_ONLY"})
    assert (reset["settings"]["rejectCall"], reset["settings"]["markReadOnSend"]) == (None, False)
    assert reset["piiRetentionDays"] is None
    assert (await customer.done("GET", path))["settings"] == reset["settings"]
    long = await customer.call("PATCH", path, body={"settings": {"msgRejectCall": "x" * 1001}})
    assert long.status_code == 400
    assert (await customer.call("PATCH", path, body={"settings": {"ignoreNewsletters": None}})).status_code == 400


async def test_there_is_never_anything_to_pay(customer: Customer, phone: str) -> None:
    number_id = (await customer.create_number(phone))["instance"]["id"]
    assert await customer.done("POST", f"numbers/{number_id}/pay") == {"ok": True, "status": "not_required"}
    key = await customer.number_key(number_id)
    answer = await customer.call("POST", f"numbers/{number_id}/pay", key=key)
    assert code_of(answer) == (403, "NUMBER_SCOPE_NOT_ALLOWED")


async def test_groups_of_a_connected_number(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    key = await customer.number_key(created["instance"]["id"])
    assert code_of(await customer.call("GET", "groups", key=key)) == (409, "WHATSAPP_INSTANCE_NOT_CONNECTED")
    assert code_of(await customer.call("GET", "groups")) == (403, "TENANT_SCOPE_NOT_ALLOWED")
    await set_state(customer.api, created["instance"]["instanceName"], "open")
    await customer.done("GET", f"numbers/{created['instance']['id']}/status")

    async def has_groups() -> bool:
        answer = await customer.call("GET", "groups", key=key)
        return answer.status_code == 200 and len(answer.json()) == 1

    await soon(has_groups, "the groups of a connected number")
    fits(list[sdk.GroupListItem], await customer.done("GET", "groups", key=key))


async def test_no_answer_and_no_log_shows_how_the_gateway_is_reached(customer: Customer, phone: str) -> None:
    created = await customer.create_number(phone)
    number_id = created["instance"]["id"]
    answers = [created, await customer.done("GET", f"numbers/{number_id}"), await customer.done("GET", "numbers")]
    for secret in ("gateway-key-of-the-tests", str(customer.api.gateway_wire.port)):
        assert all(secret not in str(answer) for answer in answers)
    assert phone[1:] not in customer.api.log()
