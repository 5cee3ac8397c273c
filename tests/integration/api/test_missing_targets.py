"""Every operator's route that names something says by its code what is not there, and every taken name is refused."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from .running import OPERATOR_KEY, RunningApi, code_of

NOBODY = str(uuid4())
PHONE = "+5547991112233"
GATEWAY = {"instance": "i-of-nobody", "gatewayUrl": "http://127.0.0.1:9", "gatewayApiKey": "k"}
WEEK = {"startsAt": "2030-01-01T00:00:00Z", "endsAt": "2030-01-08T00:00:00Z"}


async def ask(api: RunningApi, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
    headers = {"x-operator-key": OPERATOR_KEY}
    return await api.client.request(method, f"/v1/admin/{path}", json=body, headers=headers)


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", f"tenants/{NOBODY}", None, "TENANT_NOT_FOUND"),
        ("GET", f"projects/{NOBODY}", None, "PROJECT_NOT_FOUND"),
        ("POST", "projects", {"tenantId": NOBODY, "name": "p"}, "TENANT_NOT_FOUND"),
        ("GET", f"plans/{NOBODY}", None, "PLAN_NOT_FOUND"),
        ("PATCH", f"plans/{NOBODY}", {"liveMonthly": 1}, "PLAN_NOT_FOUND"),
        ("DELETE", f"plans/{NOBODY}", None, "PLAN_NOT_FOUND"),
        ("POST", "packages", {"tenantId": NOBODY, "messages": 1, **WEEK}, "TENANT_NOT_FOUND"),
        ("GET", f"packages/{NOBODY}", None, "PACKAGE_NOT_FOUND"),
        ("DELETE", f"packages/{NOBODY}", None, "PACKAGE_NOT_FOUND"),
        ("POST", "profiles", {"tenantId": NOBODY, "name": "a", "phone": PHONE}, "TENANT_NOT_FOUND"),
        ("GET", f"profiles/{NOBODY}", None, "PROFILE_NOT_FOUND"),
        ("PATCH", f"profiles/{NOBODY}", {"name": "b"}, "PROFILE_NOT_FOUND"),
        ("DELETE", f"profiles/{NOBODY}", None, "PROFILE_NOT_FOUND"),
        ("POST", "opt-ins", {"projectId": NOBODY, "phone": PHONE}, "PROJECT_NOT_FOUND"),
        ("GET", f"opt-ins/{NOBODY}", None, "OPT_IN_NOT_FOUND"),
        ("DELETE", f"opt-ins/{NOBODY}", None, "OPT_IN_NOT_FOUND"),
        ("DELETE", f"keys/{NOBODY}", None, "KEY_NOT_FOUND"),
        ("GET", f"numbers/{NOBODY}", None, "NUMBER_NOT_FOUND"),
        ("GET", f"numbers/{NOBODY}/lane", None, "NUMBER_NOT_FOUND"),
        ("POST", "numbers", {"tenantId": NOBODY, **GATEWAY}, "TENANT_NOT_FOUND"),
        ("POST", f"numbers/{NOBODY}/pause", None, "NUMBER_NOT_FOUND"),
        ("POST", f"numbers/{NOBODY}/default", None, "NUMBER_NOT_FOUND"),
        ("POST", f"templates/{NOBODY}/approve", {}, "TEMPLATE_NOT_FOUND"),
        ("POST", f"templates/{NOBODY}/production-approval", {"approved": True}, "TEMPLATE_NOT_FOUND"),
        ("GET", f"operators/{NOBODY}", None, "OPERATOR_NOT_FOUND"),
        ("PATCH", f"operators/{NOBODY}", {"name": "b"}, "OPERATOR_NOT_FOUND"),
        ("GET", f"recipients/erasures/{NOBODY}", None, "ERASURE_NOT_FOUND"),
        ("POST", "recipients/erase", {"phone": PHONE, "tenantId": NOBODY}, "TENANT_NOT_FOUND"),
        ("DELETE", f"operators/{NOBODY}", None, "OPERATOR_NOT_FOUND"),
    ],
)
async def test_what_is_not_there_is_named(
    api: RunningApi, method: str, path: str, body: dict[str, Any] | None, code: str
) -> None:
    assert code_of(await ask(api, method, path, body)) == (404, code)


async def test_a_plan_that_a_tenant_has_is_not_deleted(api: RunningApi) -> None:
    plan = await api.operator("plans", name=f"plan {uuid4()}")
    tenant = await api.operator("tenants", name="t", planId=plan["id"])
    assert code_of(await ask(api, "DELETE", f"plans/{plan['id']}")) == (409, "PLAN_IN_USE")
    assert (await ask(api, "PATCH", f"tenants/{tenant['id']}", {"planId": None})).status_code == 200
    assert (await ask(api, "DELETE", f"plans/{plan['id']}")).status_code == 200


async def test_a_revoked_operator_gets_no_other_role(api: RunningApi) -> None:
    operator = await api.operator("operators", name="Rui", role="viewer")
    assert (await ask(api, "DELETE", f"operators/{operator['id']}")).status_code == 200
    changed = await ask(api, "PATCH", f"operators/{operator['id']}", {"role": "admin"})
    assert code_of(changed) == (404, "OPERATOR_NOT_FOUND")
