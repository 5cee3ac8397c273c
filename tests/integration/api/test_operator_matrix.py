"""Every operator route that changes something, by every role: who is refused, and what the log says of who is not."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from local_stack.services import ServiceProcess

from .answering import answering
from .operator_recipes import PHONE, RECIPES, World
from .repairing import repairing
from .running import OPERATOR_KEY, RunningApi, code_of

ADMIN_ONLY = {
    "POST /v1/admin/tenants",
    "PATCH /v1/admin/tenants/{tenant_id}",
    "POST /v1/admin/projects",
    "PATCH /v1/admin/projects/{project_id}",
    "POST /v1/admin/plans",
    "PATCH /v1/admin/plans/{plan_id}",
    "DELETE /v1/admin/plans/{plan_id}",
    "POST /v1/admin/packages",
    "DELETE /v1/admin/packages/{package_id}",
    "POST /v1/admin/numbers",
    "POST /v1/admin/numbers/{number_id}/default",
    "POST /v1/admin/operators",
    "PATCH /v1/admin/operators/{operator_id}",
    "DELETE /v1/admin/operators/{operator_id}",
}


@pytest.fixture(scope="module")
async def world(
    running_api: RunningApi, default_number: str, api_database: TestDatabase, vhost: VirtualHost
) -> AsyncIterator[World]:
    keys = {}
    for role in ("viewer", "operator", "admin"):
        created = await running_api.operator("operators", name=role, role=role)
        keys[role] = (created["id"], created["key"])
    async with repairing(api_database.url("reconciler"), vhost.url) as answering:
        yield World(api=running_api, account=await running_api.account(), keys=keys, repairing=answering)


@pytest.fixture(scope="module", autouse=True)
async def dispatching(running_api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[None]:
    """Canceling asks the dispatcher."""
    async with answering(api_database.url("dispatcher"), vhost.url):
        yield


async def call(world: World, route: str, role: str) -> httpx.Response:
    path, body = await RECIPES[route](world)
    if body and body.get("tenantId", "") is None:
        body = {**body, "tenantId": await world.made("tenants", name="t")}
    return await world.api.client.request(
        route.split()[0], f"/v1/admin/{path}", json=body, headers={"x-operator-key": world.keys[role][1]}
    )


async def logged(world: World, answer: httpx.Response) -> list[Any]:
    rows = await world.api.rows(
        "SELECT operator_id::text, action, target_type, target_id::text, before, after FROM api.audit_entries "
        "WHERE request_id = $1",
        answer.headers["x-request-id"],
    )
    return list(rows)


async def test_every_changing_route_has_a_recipe(api: RunningApi) -> None:
    document = (await api.client.get("/openapi.json")).json()
    changing = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        if path.startswith("/v1/admin/")
        for method in methods
        if method in ("post", "put", "patch", "delete")
    }
    assert changing == set(RECIPES)
    assert set(RECIPES) > ADMIN_ONLY


@pytest.mark.parametrize("route", RECIPES)
async def test_each_role_is_refused_where_it_must_be_and_every_change_is_logged_once(
    world: World, route: str, default_number: str, notifier: ServiceProcess
) -> None:
    """One entry for each change, by its operator, without a phone number or a secret; none for a refusal."""
    needed = "admin" if route in ADMIN_ONLY else "operator"
    order = ["viewer", "operator", "admin"]
    for role in order:
        answer = await call(world, route, role)
        entries = await logged(world, answer)
        if order.index(role) < order.index(needed):
            assert code_of(answer) == (403, "OPERATOR_ROLE_NOT_ALLOWED"), role
            assert entries == []
            continue
        assert answer.is_success, answer.text
        [entry] = entries
        assert entry["operator_id"] == world.keys[role][0]
        assert entry["action"].startswith(entry["target_type"])
        assert answer.json().get("id", entry["target_id"]) == entry["target_id"]
        assert entry["before"] is not None or entry["after"] is not None
        shown = json.dumps([entry["before"], entry["after"]])
        for secret in (
            PHONE[1:],
            "secret-of-gateway",
            str(answer.json().get("key", PHONE)),
            "sealed",
            "hash",
            "token-of",
        ):
            assert secret not in shown, secret
    await restore_default(world, route, default_number)


async def restore_default(world: World, route: str, instance: str) -> None:
    """Other tests of this run send from it."""
    if route.endswith("/default"):
        [row] = await world.api.rows("SELECT id FROM api.numbers WHERE instance = $1", instance)
        path, headers = f"/v1/admin/numbers/{row['id']}/default", {"x-operator-key": OPERATOR_KEY}
        assert (await world.api.client.post(path, headers=headers)).status_code == 200


@pytest.mark.parametrize("key", [None, "", "wrong", f"op_{'a' * 12}_{'b' * 43}"])
async def test_nothing_below_admin_answers_without_a_valid_key(api: RunningApi, key: str | None) -> None:
    document = (await api.client.get("/openapi.json")).json()
    headers = {"x-operator-key": key} if key is not None else {}
    asked = 0
    for path, methods in document["paths"].items():
        if not path.startswith("/v1/admin/"):
            continue
        for method in methods:
            url = path.replace("{", "").replace("}", "")
            answer = await api.client.request(method.upper(), url, headers=headers)
            assert code_of(answer) == (401, "OPERATOR_KEY_INVALID"), (method, path)
            asked += 1
    assert asked > len(RECIPES)
