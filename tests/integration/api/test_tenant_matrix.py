"""Every documented route with a foreign key, without a key, and with a revoked one: nothing done, nothing shown."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from api.app.documentation import operations_of
from api.app.documentation.requests import IDS
from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from chassis.testing.waiting import eventually
from local_stack.backing import Backing

from .answering import answering
from .notifying import notifying
from .running import OPERATOR_KEY, RunningApi, code_of
from .walk import CLIENT, PATH_IDS, Step, Walk, steps

SNAPSHOT = Path(__file__).parents[3] / "services" / "api" / "openapi.json"
OPERATIONS = dict(operations_of(json.loads(SNAPSHOT.read_text())))
BY_OPERATION = {step.operation: step for step in reversed(list(steps()))}
CLIENTS = sorted(name for name in OPERATIONS if "/v1/admin/" not in name)
OPERATORS = sorted(name for name in OPERATIONS if "/v1/admin/" in name)
NAMED_IN_BODY = {"POST /v1/api-keys", "DELETE /v1/messages/cancel", "POST /v1/webhooks"}
"""Routes whose body names something that may be another tenant's."""
FOREIGN = sorted(name for name in CLIENTS if "{" in name or name in NAMED_IN_BODY)
OWN_ONLY = sorted(name for name in CLIENTS if name.startswith("GET ") and "{" not in name)
OWNERS = ("tenant", "project", "template")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SECRETS = ("Ana", "order 42", "pedido 42", "padaria", "Balcão", "5511973000001", "order_done", "pedidos")


@pytest.fixture(scope="module")
async def victim(
    backing: Backing,
    api_database: TestDatabase,
    running_api: RunningApi,
    default_number: str,
    vhost: VirtualHost,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Walk]:
    """A tenant that has one of everything."""
    async with AsyncExitStack() as stack:
        folder = tmp_path_factory.mktemp("matrix")
        await stack.enter_async_context(notifying(backing, api_database, vhost, folder))
        await stack.enter_async_context(answering(api_database.url("dispatcher"), vhost.url))
        walk = Walk(running_api)
        await walk.to_clients()
        await walk.go(*CLIENT)
        yield walk


@pytest.fixture(scope="module")
async def strangers(running_api: RunningApi, victim: Walk) -> dict[str, str]:
    """Keys of another tenant, of every scope, with an open number of its own."""
    account = await running_api.account(environment="LIVE", approved=True)
    number = await running_api.number(tenantId=account.tenant_id)
    bound = await running_api.key(account.project_id, environment="LIVE", number_id=number["id"])
    tenant = await running_api.operator(
        "keys", projectId=account.project_id, environment="LIVE", name="t", scope="tenant"
    )
    return {"default": account.key, "number": bound, "tenant": str(tenant["key"])}


@pytest.fixture(scope="module")
async def before(victim: Walk) -> str:
    return await everything_of(victim)


async def everything_of(victim: Walk) -> str:
    """All rows of the tenant in the api's tables, whatever they belong to it by, and its webhook as it was set up."""
    columns = await victim.api.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'api'"
        " AND column_name = ANY($1) AND table_name NOT LIKE '%usage%' ORDER BY 1, 2",
        [f"{name}_id" for name in OWNERS],
    )
    found = []
    for table, column in columns:
        rows = await victim.api.rows(
            f'SELECT t::text AS line FROM api."{table}" t WHERE {column} = $1::text::uuid ORDER BY 1',
            victim.ids[column.removesuffix("_id")],
        )
        found += [f"{table}: {row['line']}" for row in rows]
    tables = {line.split(":")[0] for line in found}
    assert {"api_keys", "messages", "numbers", "projects", "templates", "template_versions"} <= tables
    webhook = (await victim.call(BY_OPERATION["GET /v1/webhooks/{webhook_id}"])).json()
    del webhook["lastTriggered"], webhook["failingSince"]
    return "\n".join([*sorted(set(found)), json.dumps(webhook)])


def test_the_document_has_routes_of_both_kinds() -> None:
    assert len(FOREIGN) > 15
    assert len(OWN_ONLY) > 8
    assert set(BY_OPERATION) == set(OPERATIONS)
    assert all(placeholder in PATH_IDS for name in OPERATIONS for placeholder in re.findall(r"{(\w+)}", name))


@pytest.mark.parametrize("scope", ["default", "number", "tenant"])
@pytest.mark.parametrize("operation", FOREIGN)
async def test_what_is_another_tenants_is_not_there(
    victim: Walk, strangers: dict[str, str], before: str, operation: str, scope: str
) -> None:
    step = BY_OPERATION[operation]
    request = _request(victim, step, {"x-api-key": strangers[scope], "x-whatsapp-number-id": victim.ids["number"]})
    if operation == "POST /v1/webhooks":
        request["json"]["whatsappNumberId"] = victim.ids["number"]
    answer = await victim.api.client.request(**request)
    if operation == "DELETE /v1/messages/cancel" and answer.status_code == 200:
        assert answer.json()["cancelled"] == []
        assert {failure["reason"] for failure in answer.json()["failed"]} == {"NOT_FOUND"}
    else:
        allowed = {403, 404} | ({400} if operation == "POST /v1/webhooks" else set())
        assert answer.status_code in allowed, answer.text
        assert code_of(answer)[1] != "ROUTE_NOT_FOUND"
    assert _leaks(victim, answer.text, given=json.dumps(request["json"])) == []
    assert await everything_of(victim) == before


@pytest.mark.parametrize("scope", ["default", "number", "tenant"])
@pytest.mark.parametrize("operation", OWN_ONLY)
async def test_lists_hold_nothing_of_another_tenant(
    victim: Walk, strangers: dict[str, str], operation: str, scope: str
) -> None:
    step = BY_OPERATION[operation]
    for headers in ({}, {"x-whatsapp-number-id": victim.ids["number"]}):
        request = _request(victim, step, {"x-api-key": strangers[scope], **headers})
        answer = await victim.api.client.request(**request)
        assert answer.status_code in (200, 403, 404, 409), answer.text
        assert _leaks(victim, answer.text, given="") == []
    if operation == "GET /v1/messages":
        answer = await victim.api.client.request(**{**request, "params": {"number": victim.ids["number"]}})
        assert _leaks(victim, answer.text, given="") == []


@pytest.mark.parametrize("operation", CLIENTS)
async def test_no_client_route_without_a_key(victim: Walk, revoked: str, operation: str) -> None:
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"x-api-key": revoked},
        {"x-api-key": "ps_live_nobody"},
        {"x-operator-key": OPERATOR_KEY},
    )
    for headers in wrong:
        answer = await victim.api.client.request(**_request(victim, BY_OPERATION[operation], headers))
        assert code_of(answer) == (401, "API_KEY_INVALID")


@pytest.mark.parametrize("operation", OPERATORS)
async def test_no_operators_route_without_an_operators_key(victim: Walk, retired: str, operation: str) -> None:
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"x-operator-key": retired},
        {"x-api-key": victim.keys["key"]},
        {"x-operator-key": "op_nobody"},
    )
    for headers in wrong:
        answer = await victim.api.client.request(**_request(victim, BY_OPERATION[operation], headers))
        assert code_of(answer) == (401, "OPERATOR_KEY_INVALID")


@pytest.fixture(scope="module")
async def revoked(victim: Walk) -> str:
    """A key of the victim's own tenant that worked until it was revoked."""
    body = {"projectId": victim.ids["project"], "environment": "LIVE", "name": "old", "numberId": victim.ids["number"]}
    issued = await victim.api.operator("keys", **body)
    key = str(issued["key"])
    assert (await victim.api.get(key, "numbers")).status_code == 200
    await _delete(victim, f"keys/{issued['id']}")

    async def is_refused() -> bool:
        return (await victim.api.get(key, "numbers")).status_code == 401

    await eventually(is_refused, "the revoked key refused")
    return key


@pytest.fixture(scope="module")
async def retired(victim: Walk) -> str:
    """An operator's key that was revoked."""
    issued = await victim.api.operator("operators", name="Rui", role="admin")
    await _delete(victim, f"operators/{issued['id']}")
    return str(issued["key"])


async def _delete(victim: Walk, path: str) -> None:
    answer = await victim.api.client.delete(f"/v1/admin/{path}", headers={"x-operator-key": OPERATOR_KEY})
    assert answer.is_success, answer.text


def _request(victim: Walk, step: Step, headers: dict[str, str]) -> dict[str, Any]:
    method, path = step.operation.split(" ")
    url, body = victim.path(path), victim.body(step)
    return {"method": method, "url": url, "params": victim.query(step), "json": body, "headers": headers}


def _leaks(victim: Walk, text: str, *, given: str) -> list[str]:
    """Ids and words of the victim in an answer, beyond what the question held."""
    ids = [*victim.ids.values(), *UUID.findall(json.dumps(victim.answers))]
    private = set(ids) - set(IDS.values())
    return [word for word in {*private, *SECRETS} if word in text and word not in given]
