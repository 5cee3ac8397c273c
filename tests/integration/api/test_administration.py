"""What operators administer, and how soon and how far it counts."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from contracts.facts import NumberConfigured
from contracts.registry import decode

from .running import OPERATOR_KEY, RunningApi, code_of, soon

PHONE = "+5547991112233"


async def ask(api: RunningApi, method: str, path: str, *, key: str = OPERATOR_KEY, **body: Any) -> httpx.Response:
    return await api.client.request(method, f"/v1/admin/{path}", json=body or None, headers={"x-operator-key": key})


async def configured(api: RunningApi, number_id: str) -> list[NumberConfigured]:
    rows = await api.rows("SELECT type, body FROM api.outbox WHERE type LIKE 'number.configured%' ORDER BY id")
    facts = [decode(row["type"], row["body"]) for row in rows]
    return [fact for fact in facts if isinstance(fact, NumberConfigured) and str(fact.number_id) == number_id]


async def test_a_revoked_operator_is_refused_within_seconds(api: RunningApi) -> None:
    created = await api.operator("operators", name="Ana", role="admin")
    assert (await ask(api, "GET", "tenants", key=created["key"])).status_code == 200
    assert (await ask(api, "DELETE", f"operators/{created['id']}")).status_code == 200

    async def is_refused() -> bool:
        return code_of_any(await ask(api, "GET", "tenants", key=created["key"])) == (401, "OPERATOR_KEY_INVALID")

    await soon(is_refused, "the key refused")
    assert code_of(await ask(api, "PATCH", f"operators/{created['id']}", role="viewer")) == (404, "OPERATOR_NOT_FOUND")


def code_of_any(answer: httpx.Response) -> tuple[int, str | None]:
    body = answer.json()
    return answer.status_code, body.get("code") if isinstance(body, dict) else None


async def test_a_changed_role_counts_within_seconds(api: RunningApi) -> None:
    created = await api.operator("operators", name="Ana", role="viewer")
    assert (await ask(api, "POST", "plans", key=created["key"], name=uuid4().hex)).status_code == 403
    await ask(api, "PATCH", f"operators/{created['id']}", role="admin")

    async def is_allowed() -> bool:
        return (await ask(api, "POST", "plans", key=created["key"], name=uuid4().hex)).status_code == 201

    await soon(is_allowed, "the new role")


async def test_only_the_hash_of_an_operator_key_is_stored(api: RunningApi) -> None:
    created = await api.operator("operators", name="Ana", role="viewer")
    secret = created["key"].split("_", 2)[2]
    [row] = await api.rows("SELECT * FROM api.operators WHERE id = $1", created["id"])
    assert secret not in repr(dict(row))
    assert secret not in (await ask(api, "GET", f"operators/{created['id']}")).text
    assert secret not in api.log()


async def test_a_change_that_cannot_be_logged_is_not_made(api: RunningApi) -> None:
    name = uuid4().hex
    await api.rows("ALTER TABLE api.audit_entries ADD CONSTRAINT broken CHECK (action <> 'plan.create') NOT VALID")
    try:
        assert (await ask(api, "POST", "plans", name=name)).status_code == 500
    finally:
        await api.rows("ALTER TABLE api.audit_entries DROP CONSTRAINT broken")
    assert await api.rows("SELECT 1 FROM api.plans WHERE name = $1", name) == []
    assert (await ask(api, "POST", "plans", name=name)).status_code == 201


async def test_a_refused_change_is_not_logged(api: RunningApi) -> None:
    answer = await ask(api, "PATCH", f"plans/{uuid4()}", liveDaily=1)
    assert code_of(answer) == (404, "PLAN_NOT_FOUND")
    request_id = answer.headers["x-request-id"]
    assert await api.rows("SELECT 1 FROM api.audit_entries WHERE request_id = $1", request_id) == []


@pytest.mark.parametrize("statement", ["DELETE FROM", "TRUNCATE", "UPDATE"])
async def test_the_log_can_only_be_added_to(api: RunningApi, statement: str) -> None:
    await api.operator("plans", name=uuid4().hex)
    tail = " SET action = ''" if statement == "UPDATE" else ""
    with pytest.raises(Exception, match="only added to"):
        await api.rows(f"{statement} api.audit_entries{tail}")


async def test_the_log_shows_before_and_after_page_by_page(api: RunningApi) -> None:
    operator = await api.operator("operators", name="Ana", role="admin")
    plan = await api.operator("plans", name=uuid4().hex, liveDaily=5)
    for daily in (6, 7, 8):
        await ask(api, "PATCH", f"plans/{plan['id']}", key=operator["key"], liveDaily=daily)
    first = (await ask(api, "GET", f"audit?targetId={plan['id']}&limit=3")).json()
    second = (await ask(api, "GET", f"audit?targetId={plan['id']}&limit=3&cursor={first['nextCursor']}")).json()
    entries = first["items"] + second["items"]
    assert [entry["action"] for entry in entries] == ["plan.change"] * 3 + ["plan.create"]
    assert [entry["after"][0]["live_daily"] for entry in entries] == [8, 7, 6, 5]
    assert entries[0]["before"][0]["live_daily"] == 7
    assert second["nextCursor"] is None
    assert entries[0]["operator"] == {"id": operator["id"], "name": "Ana"}
    assert entries[3]["operator"] == {"id": None, "name": "environment"}
    assert entries[3]["before"] is None
    by_operator = (await ask(api, "GET", f"audit?operatorId={operator['id']}")).json()["items"]
    assert len(by_operator) == 3
    narrowed = (await ask(api, "GET", f"audit?targetId={plan['id']}&action=plan.create&targetType=plan")).json()
    assert len(narrowed["items"]) == 1
    until = entries[1]["at"].replace("+", "%2B")
    assert all(e["at"] < entries[1]["at"] for e in (await ask(api, "GET", f"audit?until={until}")).json()["items"])
    assert code_of(await ask(api, "GET", "audit?cursor=nonsense"))[0] == 400


async def test_lists_are_cut_into_pages_without_gaps_or_repeats(api: RunningApi) -> None:
    tenant = await api.operator("tenants", name="t")
    made = [(await api.operator("projects", tenantId=tenant["id"], name=f"p{index}"))["id"] for index in range(5)]
    seen: list[str] = []
    cursor = ""
    for _ in range(len(made)):
        page = (await ask(api, "GET", f"projects?tenantId={tenant['id']}&limit=2{cursor}")).json()
        seen += [item["id"] for item in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert seen == made[::-1]


async def test_tenants_have_a_plan_a_zone_and_a_country(api: RunningApi) -> None:
    plan = await api.operator("plans", name=uuid4().hex)
    created = await api.operator(
        "tenants", name="Padaria", planId=plan["id"], timezone="America/Sao_Paulo", defaultCountry="BR", weight=4
    )
    found = (await ask(api, "GET", f"tenants/{created['id']}")).json()
    assert found == created
    assert (found["planId"], found["timezone"], found["defaultCountry"], found["weight"]) == (
        plan["id"],
        "America/Sao_Paulo",
        "BR",
        4,
    )
    assert code_of(await ask(api, "DELETE", f"plans/{plan['id']}")) == (409, "PLAN_IN_USE")
    changed = (await ask(api, "PATCH", f"tenants/{created['id']}", planId=None)).json()
    assert changed == {**created, "planId": None}
    assert (await ask(api, "DELETE", f"plans/{plan['id']}")).status_code == 200
    assert code_of(await ask(api, "GET", f"plans/{plan['id']}")) == (404, "PLAN_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "tenants", {"name": "x", "timezone": "Mars/Olympus"}, (400, "VALIDATION_FAILED")),
        ("POST", "tenants", {"name": "x", "timezone": "../../etc/passwd"}, (400, "VALIDATION_FAILED")),
        ("POST", "tenants", {"name": "x", "defaultCountry": "Brasil"}, (400, "VALIDATION_FAILED")),
        ("POST", "tenants", {"name": "x\u0000"}, (400, "VALIDATION_FAILED")),
        ("POST", "tenants", {"name": None}, (400, "VALIDATION_FAILED")),
        ("POST", "tenants", {"name": "x", "planId": str(uuid4())}, (404, "PLAN_NOT_FOUND")),
        ("PATCH", f"tenants/{uuid4()}", {"unknown": 1}, (400, "EMPTY_PATCH")),
        ("PATCH", f"tenants/{uuid4()}", {"weight": 2}, (404, "TENANT_NOT_FOUND")),
        ("PATCH", f"tenants/{uuid4()}", {"weight": None}, (400, "VALIDATION_FAILED")),
        ("PATCH", f"projects/{uuid4()}", {"productionApproved": True}, (404, "PROJECT_NOT_FOUND")),
        ("POST", "projects", {"tenantId": str(uuid4()), "name": "p"}, (404, "TENANT_NOT_FOUND")),
        ("POST", "plans", {"name": "p", "liveMonthly": -1}, (400, "VALIDATION_FAILED")),
        ("POST", "plans", {"name": "p", "liveMonthly": "10"}, (400, "VALIDATION_FAILED")),
        ("DELETE", f"packages/{uuid4()}", {}, (404, "PACKAGE_NOT_FOUND")),
        ("DELETE", f"profiles/{uuid4()}", {}, (404, "PROFILE_NOT_FOUND")),
        ("DELETE", f"opt-ins/{uuid4()}", {}, (404, "OPT_IN_NOT_FOUND")),
        ("DELETE", f"keys/{uuid4()}", {}, (404, "KEY_NOT_FOUND")),
        ("POST", f"numbers/{uuid4()}/pause", {}, (404, "NUMBER_NOT_FOUND")),
        ("POST", f"numbers/{uuid4()}/default", {}, (404, "NUMBER_NOT_FOUND")),
        ("POST", "opt-ins", {"projectId": str(uuid4()), "phone": PHONE}, (404, "PROJECT_NOT_FOUND")),
        ("POST", "profiles", {"tenantId": str(uuid4()), "name": "a", "phone": PHONE}, (404, "TENANT_NOT_FOUND")),
        ("POST", "operators", {"name": "x", "role": "root"}, (400, "VALIDATION_FAILED")),
    ],
)
async def test_mistakes_are_named(
    api: RunningApi, method: str, path: str, body: dict[str, Any], code: tuple[int, str]
) -> None:
    assert code_of(await ask(api, method, path, **body)) == code


async def test_a_package_ends_after_it_starts(api: RunningApi) -> None:
    tenant = await api.operator("tenants", name="t")
    now = datetime.now(UTC).isoformat()
    answer = await ask(api, "POST", "packages", tenantId=tenant["id"], messages=1, startsAt=now, endsAt=now)
    assert code_of(answer) == (400, "VALIDATION_FAILED")


async def test_two_plans_cannot_have_one_name(api: RunningApi) -> None:
    name = uuid4().hex
    await api.operator("plans", name=name)
    assert code_of(await ask(api, "POST", "plans", name=name)) == (409, "ALREADY_EXISTS")


async def test_phones_rest_sealed_and_a_viewer_sees_only_their_end(api: RunningApi) -> None:
    viewer = await api.operator("operators", name="Ana", role="viewer")
    account = await api.account()
    profile = await api.operator("profiles", tenantId=account.tenant_id, name="Bia", phone="+55 47 99111-2233")
    opt_in = await api.operator("opt-ins", projectId=account.project_id, phone=PHONE)
    assert profile["phone"] == opt_in["phone"] == PHONE
    for path in (f"profiles/{profile['id']}", f"opt-ins/{opt_in['id']}"):
        assert (await ask(api, "GET", path)).json()["phone"] == PHONE
        assert (await ask(api, "GET", path, key=viewer["key"])).json()["phone"] == "+•••••••••2233"
    for path in (f"profiles?tenantId={account.tenant_id}", f"opt-ins?projectId={account.project_id}"):
        shown = await ask(api, "GET", path, key=viewer["key"])
        assert len(shown.json()["items"]) >= 1
        assert PHONE not in shown.text
    for table in ("profiles", "opt_ins", "audit_entries"):
        rows = await api.rows(f"SELECT * FROM api.{table}")
        assert PHONE[1:] not in repr([dict(row) for row in rows])
    assert PHONE[1:] not in api.log()


async def test_a_tenant_has_a_phone_once(api: RunningApi) -> None:
    tenant = await api.operator("tenants", name="t", defaultCountry="BR")
    await api.operator("profiles", tenantId=tenant["id"], name="Bia", phone=PHONE)
    again = await ask(api, "POST", "profiles", tenantId=tenant["id"], name="Caio", phone="(47) 99111-2233")
    assert code_of(again) == (409, "ALREADY_EXISTS")
    bad = await ask(api, "POST", "profiles", tenantId=tenant["id"], name="Caio", phone="abc")
    assert code_of(bad) == (400, "DESTINATION_INVALID")
    assert bad.json()["details"][0]["field"] == "phone"


async def test_consent_can_be_taken_back_and_given_again(api: RunningApi) -> None:
    account = await api.account()
    granted = await api.operator("opt-ins", projectId=account.project_id, phone=PHONE)
    revoked = (await ask(api, "DELETE", f"opt-ins/{granted['id']}")).json()
    assert revoked["revokedAt"] is not None
    again = await api.operator("opt-ins", projectId=account.project_id, phone=PHONE)
    assert (again["id"], again["revokedAt"], again["firstOptInAt"]) == (granted["id"], None, granted["firstOptInAt"])


async def test_a_revoked_key_stops_sending_within_seconds(api: RunningApi) -> None:
    account = await api.account()
    listed = (await ask(api, "GET", f"keys?tenantId={account.tenant_id}")).json()["items"]
    assert [item["projectId"] for item in listed] == [account.project_id]
    assert account.key.split("_", 3)[3] not in json.dumps(listed)
    assert (await api.send(account.key)).status_code == 202
    await ask(api, "DELETE", f"keys/{listed[0]['id']}")

    async def is_refused() -> bool:
        return (await api.send(account.key)).status_code == 401

    await soon(is_refused, "the key refused")


async def test_every_configuration_of_a_number_is_told_with_a_higher_version(api: RunningApi) -> None:
    api.broker_wire.cut()
    number = await api.number()
    await ask(api, "POST", f"numbers/{number['id']}/pause")
    paced = await ask(api, "PUT", f"numbers/{number['id']}/pacing", otp={"min_ms": 1, "max_ms": 2}, max_in_flight=3)
    await ask(api, "POST", f"numbers/{number['id']}/resume")
    assert paced.json()["pacing"]["max_in_flight"] == 3
    told = await configured(api, number["id"])
    assert [fact.version for fact in told] == [1, 2, 3, 4]
    assert [fact.paused for fact in told] == [False, True, True, False]
    assert (told[3].pacing.max_in_flight, told[3].pacing.otp.min_ms) == (3, 1)


async def test_the_default_number_is_switched_in_one_step(api: RunningApi, default_number: str) -> None:
    api.broker_wire.cut()
    [former] = await api.rows("SELECT id::text, version FROM api.numbers WHERE platform_default")
    number = await api.number()
    assert (await ask(api, "POST", f"numbers/{number['id']}/default")).json()["platformDefault"] is True
    rows = await api.rows("SELECT id::text FROM api.numbers WHERE platform_default")
    assert [row["id"] for row in rows] == [number["id"]]
    assert [fact.platform_default for fact in await configured(api, former["id"])][-1:] == [False]
    assert [fact.platform_default for fact in await configured(api, number["id"])] == [False, True]
    assert (await ask(api, "POST", f"numbers/{former['id']}/default")).status_code == 200


async def test_a_tenants_own_number_never_becomes_the_default(api: RunningApi) -> None:
    tenant = await api.operator("tenants", name="t")
    number = await api.number(tenantId=tenant["id"])
    answer = await ask(api, "POST", f"numbers/{number['id']}/default")
    assert code_of(answer) == (409, "NUMBER_BELONGS_TO_TENANT")
    assert len(await api.rows("SELECT 1 FROM api.numbers WHERE platform_default")) == 1
