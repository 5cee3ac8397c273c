"""A client's API keys: masked lists, rotation by the tenant, regeneration by the key itself."""

from itertools import count
from uuid import UUID, uuid4

import pytest
from pilot_status import types as sdk
from tests.sdk_shapes import fits

from api.access.domain import Caller
from api.access.usecases import Authenticate, ManageOwnKeys
from api.refusals import Refusal, RefusedError
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database
from chassis.testing.template_database import TestDatabase
from chassis.ttl_cache import TtlCache

from .customers import Customer, new_customer
from .running import OPERATOR_KEY, at_once, code_of

_phones = count(5511971000001)


@pytest.fixture
async def number_id(customer: Customer) -> str:
    created = await customer.create_number(f"+{next(_phones)}")
    return str(created["instance"]["id"])


async def test_a_tenant_key_lists_one_key_per_number(customer: Customer, number_id: str) -> None:
    assert await customer.done("GET", "api-keys") == []
    await customer.number_key(number_id)
    newest = await customer.number_key(number_id)
    listed = await customer.done("GET", "api-keys")
    fits(list[sdk.NumberApiKeyReveal], listed)
    assert [(row["numberId"], row["keyLast4"], row["key"], row["revealable"]) for row in listed] == [
        (number_id, newest[-4:], None, False)
    ]


async def test_the_default_key_is_the_live_one(customer: Customer, number_id: str) -> None:
    live = await customer.number_key(number_id, environment="LIVE")
    await customer.number_key(number_id)
    assert [row["keyLast4"] for row in await customer.done("GET", "api-keys")] == [live[-4:]]


async def test_any_other_key_lists_itself_masked(customer: Customer, number_id: str) -> None:
    key = await customer.number_key(number_id)
    listed = await customer.done("GET", "api-keys", key=key)
    fits(list[sdk.ApiKeyListItem], listed)
    [row] = listed
    assert row["whatsappInstance"]["id"] == number_id
    assert key.startswith(row["keyPrefix"])
    assert key.split("_", 3)[3] not in str(row)
    [own] = await customer.done("GET", "api-keys", key=customer.account.key)
    assert own["whatsappInstance"] is None


async def test_rotation_replaces_the_key_at_once(customer: Customer, number_id: str) -> None:
    old = await customer.number_key(number_id)
    assert (await customer.call("GET", "api-keys", key=old)).status_code == 200
    answer = await customer.call("POST", "api-keys", body={"whatsappNumberId": number_id})
    assert answer.status_code == 201
    rotated = answer.json()
    fits(sdk.RegeneratedNumberKey, rotated)
    assert code_of(await customer.call("GET", "api-keys", key=old)) == (401, "API_KEY_INVALID")
    [row] = await customer.done("GET", "api-keys", key=rotated["key"])
    assert (row["id"], row["name"]) == (rotated["keyId"], "test")
    assert [row["id"] for row in await customer.done("GET", "numbers", key=rotated["key"])] == [number_id]


async def test_a_number_without_a_key_gets_one(customer: Customer, number_id: str) -> None:
    rotated = await customer.done("POST", "api-keys", body={"whatsappNumberId": number_id})
    assert [row["id"] for row in await customer.done("GET", "numbers", key=rotated["key"])] == [number_id]
    assert (await customer.call("GET", "numbers")).status_code == 200


async def test_parallel_rotations_leave_one_key(customer: Customer, number_id: str) -> None:
    await customer.number_key(number_id)
    body = {"whatsappNumberId": number_id}
    answers = await at_once(*(customer.call("POST", "api-keys", body=body) for _ in range(5)))
    keys = [answer.json()["key"] for answer in answers]
    alive = [key for key in keys if (await customer.call("GET", "api-keys", key=key)).status_code == 200]
    assert len(alive) == 1


async def test_only_a_tenant_key_rotates_and_only_its_own_numbers(customer: Customer, number_id: str) -> None:
    key = await customer.number_key(number_id)
    body = {"whatsappNumberId": number_id}
    for other in (key, customer.account.key):
        answer = await customer.call("POST", "api-keys", key=other, body=body)
        assert code_of(answer) == (403, "NUMBER_SCOPE_NOT_ALLOWED")
    stranger = await new_customer(customer.api)
    assert code_of(await stranger.call("POST", "api-keys", body=body)) == (404, "NUMBER_NOT_FOUND")
    for wanted in (str(uuid4()), "nope"):
        answer = await customer.call("POST", "api-keys", body={"whatsappNumberId": wanted})
        assert code_of(answer) == (404, "NUMBER_NOT_FOUND")
    assert await stranger.done("GET", "api-keys") == []
    assert (await customer.call("GET", "api-keys", key=key)).status_code == 200


@pytest.mark.parametrize("kind", ["number", "default", "tenant"])
async def test_every_key_can_replace_itself(customer: Customer, number_id: str, kind: str) -> None:
    keys = {"number": await customer.number_key(number_id), "default": customer.account.key}
    old = keys.get(kind, customer.tenant_key)
    answer = await customer.call("POST", "api-keys/regenerate", key=old)
    assert answer.status_code == 201
    assert answer.json()["scope"] == kind
    assert answer.json()["whatsappNumberId"] == (number_id if kind == "number" else None)
    assert code_of(await customer.call("GET", "api-keys", key=old)) == (401, "API_KEY_INVALID")
    assert (await customer.call("GET", "api-keys", key=answer.json()["key"])).status_code == 200


async def test_of_two_that_replace_themselves_at_once_one_is_too_late(customer: Customer) -> None:
    answers = await at_once(*(customer.call("POST", "api-keys/regenerate") for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 401, 401, 401]


async def test_no_key_is_issued_for_another_tenants_number(customer: Customer, number_id: str) -> None:
    stranger = await new_customer(customer.api)
    body = {"projectId": stranger.account.project_id, "environment": "TEST", "name": "x", "numberId": number_id}
    answer = await customer.api.client.post("/v1/admin/keys", json=body, headers={"x-operator-key": OPERATOR_KEY})
    assert code_of(answer) == (404, "NUMBER_NOT_FOUND")
    await customer.done("DELETE", f"numbers/{number_id}")
    deleted = await customer.api.client.post(
        "/v1/admin/keys",
        json=body | {"projectId": customer.account.project_id},
        headers={"x-operator-key": OPERATOR_KEY},
    )
    assert code_of(deleted) == (404, "NUMBER_NOT_FOUND")


async def test_the_replica_that_replaces_a_key_forgets_the_old_one(
    customer: Customer, number_id: str, api_database: TestDatabase
) -> None:
    """However long it remembers: another replica's memory is bounded by its age, this one's is corrected."""
    database = Database(api_database.url("api"), outbox=OUTBOX)
    callers: TtlCache[str, Caller] = TtlCache(ttl_seconds=600)
    authenticate = Authenticate(database=database, callers=callers)
    keys = ManageOwnKeys(database=database, callers=callers, clock=utc_now)
    old = await customer.number_key(number_id)
    tenant = await authenticate.caller(customer.tenant_key)
    await authenticate.caller(old)
    rotated = await keys.rotate(tenant, UUID(number_id))
    own = await authenticate.caller(rotated.parts.raw())
    await keys.regenerate(own)
    for dead in (old, rotated.parts.raw()):
        with pytest.raises(RefusedError) as raised:
            await authenticate.caller(dead)
        assert raised.value.refusal is Refusal.API_KEY_INVALID
    await database.stop()
