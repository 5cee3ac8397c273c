"""The clients' own door to opt-ins: for the project of their key, and for no other."""

from typing import Any

import httpx

from .running import RunningApi, code_of

PHONE = "+5547991112244"


async def ask(api: RunningApi, method: str, key: str, **body: Any) -> httpx.Response:
    return await api.client.request(method, "/v1/opt-ins", json=body, headers={"x-api-key": key})


async def rows_of(api: RunningApi, project_id: str) -> list[Any]:
    return list(await api.rows("SELECT revoked_at FROM api.opt_ins WHERE project_id = $1", project_id))


async def test_consent_is_recorded_and_withdrawn_for_the_keys_project_alone(api: RunningApi) -> None:
    account, other = await api.account(environment="LIVE"), await api.account(environment="LIVE")
    granted = await ask(api, "POST", account.key, destinationNumber="+55 (47) 99111-2244")
    assert granted.status_code == 201, granted.text
    assert granted.json()["firstOptInAt"] is not None
    assert code_of(await ask(api, "DELETE", other.key, destinationNumber=PHONE)) == (404, "OPT_IN_NOT_FOUND")
    assert [row["revoked_at"] for row in await rows_of(api, account.project_id)] == [None]
    withdrawn = await ask(api, "DELETE", account.key, destinationNumber=PHONE)
    assert withdrawn.status_code == 200, withdrawn.text
    assert [row["revoked_at"] is None for row in await rows_of(api, account.project_id)] == [False]
    assert await rows_of(api, other.project_id) == []


async def test_a_tenant_key_stands_for_no_project(api: RunningApi) -> None:
    account = await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="LIVE", name="tenant", scope="tenant")
    for method in ("POST", "DELETE"):
        answer = await ask(api, method, issued["key"], destinationNumber=PHONE)
        assert code_of(answer) == (403, "TENANT_SCOPE_NOT_ALLOWED")


async def test_mistakes_are_named(api: RunningApi) -> None:
    account = await api.account()
    assert code_of(await ask(api, "POST", account.key, destinationNumber="abc")) == (400, "DESTINATION_INVALID")
    assert code_of(await ask(api, "POST", account.key)) == (400, "VALIDATION_FAILED")
    assert code_of(await ask(api, "POST", "wrong", destinationNumber=PHONE)) == (401, "API_KEY_INVALID")
