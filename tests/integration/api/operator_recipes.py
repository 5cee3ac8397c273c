"""What operators' requests that change something are about, and one such request per route."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from chassis.testing.waiting import eventually

from .repairing import Repairing
from .running import Account, RunningApi
from .stored import fail
from .test_dead_letters import owed
from .webhook_customer import customer

PHONE = "+5547991234567"
NOBODY = "http://127.0.0.1:9/token-of-a-customer"


@dataclass(slots=True, kw_only=True)
class World:
    """What the requests are about."""

    api: RunningApi
    account: Account
    keys: dict[str, tuple[str, str]] = field(repr=False)
    repairing: Repairing = field(repr=False)

    async def made(self, path: str, **body: Any) -> str:
        return str((await self.api.operator(path, **body))["id"])

    async def plan(self) -> str:
        return await self.made("plans", name=uuid4().hex)

    async def package(self) -> str:
        return await self.made("packages", **PACKAGE, tenantId=self.account.tenant_id)

    async def number(self) -> str:
        return str((await self.api.number())["id"])

    async def submitted(self) -> str:
        headers = {"x-api-key": self.account.key}
        body = {"name": f"t_{uuid4().hex[:8]}", "category": "UTILITY", "body": "Pronto."}
        created = await self.api.client.post("/v1/templates", json=body, headers=headers)
        assert created.status_code == 201, created.text
        template_id = str(created.json()["id"])
        submitted = await self.api.client.post(f"/v1/templates/{template_id}/submit", headers=headers)
        assert submitted.status_code == 200, submitted.text
        return template_id

    async def queued(self) -> str:
        answer = await self.api.send(self.account.key)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def webhook(self) -> str:
        return str((await (await customer(self.api)).registered(NOBODY, "*"))["id"])

    async def tried(self) -> str:
        """Part of a path: a webhook, and a delivery to it that failed and waits."""
        client = await customer(self.api)
        webhook = (await client.registered(NOBODY, "*"))["id"]
        delivery = (await client.ask("POST", f"/{webhook}/test")).json()["deliveryId"]

        async def is_over() -> bool:
            [found] = (await client.ask("GET", f"/{webhook}/deliveries")).json()["items"]
            return bool(found["problem"] and found["status"] == "PENDING")

        await eventually(is_over, "an attempt that has ended", timeout_seconds=20)
        return f"{webhook}/deliveries/{delivery}"

    async def failed(self) -> str:
        message_id = await self.queued()
        await fail(self.api, message_id)
        return message_id

    async def letter(self) -> str:
        return await self.repairing.bury(owed())

    async def profile(self) -> str:
        tenant_id = await self.made("tenants", name="t")
        return await self.made("profiles", tenantId=tenant_id, name="Ana", phone=PHONE)

    async def opt_in(self) -> str:
        return await self.made("opt-ins", projectId=self.account.project_id, phone=PHONE)


PACKAGE = {"messages": 5, "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2027-01-01T00:00:00Z"}
Request = tuple[str, Any]
Recipe = Callable[[World], Awaitable[Request]]


async def on(made: Awaitable[str], path: str, body: Any = None) -> Request:
    return path.format(await made), body


async def to(path: str, **body: Any) -> Request:
    return path, body


async def the(value: str) -> str:
    return value


RECIPES: dict[str, Recipe] = {
    "POST /v1/admin/tenants": lambda w: to("tenants", name="Padaria"),
    "PATCH /v1/admin/tenants/{tenant_id}": lambda w: on(w.made("tenants", name="a"), "tenants/{}", {"weight": 3}),
    "POST /v1/admin/projects": lambda w: to("projects", tenantId=w.account.tenant_id, name="loja"),
    "PATCH /v1/admin/projects/{project_id}": lambda w: on(
        w.made("projects", tenantId=w.account.tenant_id, name="p"), "projects/{}", {"productionApproved": True}
    ),
    "POST /v1/admin/plans": lambda w: to("plans", name=uuid4().hex, liveMonthly=10),
    "PATCH /v1/admin/plans/{plan_id}": lambda w: on(w.plan(), "plans/{}", {"liveMonthly": None}),
    "DELETE /v1/admin/plans/{plan_id}": lambda w: on(w.plan(), "plans/{}"),
    "POST /v1/admin/packages": lambda w: to("packages", **PACKAGE, tenantId=w.account.tenant_id),
    "DELETE /v1/admin/packages/{package_id}": lambda w: on(w.package(), "packages/{}"),
    "POST /v1/admin/profiles": lambda w: on(
        w.made("tenants", name="t"), "profiles", {"name": "Ana", "phone": PHONE, "tenantId": None}
    ),
    "PATCH /v1/admin/profiles/{profile_id}": lambda w: on(w.profile(), "profiles/{}", {"name": "Bia"}),
    "DELETE /v1/admin/profiles/{profile_id}": lambda w: on(w.profile(), "profiles/{}"),
    "POST /v1/admin/opt-ins": lambda w: to("opt-ins", projectId=w.account.project_id, phone=PHONE),
    "DELETE /v1/admin/opt-ins/{opt_in_id}": lambda w: on(w.opt_in(), "opt-ins/{}"),
    "POST /v1/admin/keys": lambda w: to("keys", projectId=w.account.project_id, environment="LIVE", name="k"),
    "DELETE /v1/admin/keys/{key_id}": lambda w: on(
        w.made("keys", projectId=w.account.project_id, environment="LIVE", name="k"), "keys/{}"
    ),
    "POST /v1/admin/numbers": lambda w: to(
        "numbers", instance=f"m-{uuid4().hex[:8]}", gatewayUrl="http://127.0.0.1:9", gatewayApiKey="secret-of-gateway"
    ),
    "POST /v1/admin/numbers/{number_id}/default": lambda w: on(w.number(), "numbers/{}/default"),
    "PUT /v1/admin/numbers/{number_id}/pacing": lambda w: on(w.number(), "numbers/{}/pacing", {"max_in_flight": 2}),
    "POST /v1/admin/numbers/{number_id}/pause": lambda w: on(w.number(), "numbers/{}/pause"),
    "POST /v1/admin/numbers/{number_id}/resume": lambda w: on(w.number(), "numbers/{}/resume"),
    "POST /v1/admin/templates": lambda w: to(
        "templates", projectId=w.account.project_id, name=f"t_{uuid4().hex[:8]}", category="OTP", body="Oi"
    ),
    "POST /v1/admin/templates/{template_id}/approve": lambda w: on(
        w.submitted(), "templates/{}/approve", {"version": 1}
    ),
    "POST /v1/admin/templates/{template_id}/reject": lambda w: on(
        w.submitted(), "templates/{}/reject", {"version": 1, "reason": "Unclear."}
    ),
    "POST /v1/admin/templates/{template_id}/production-approval": lambda w: on(
        w.made("templates", projectId=w.account.project_id, name=f"t_{uuid4().hex[:8]}", category="OTP", body="Oi"),
        "templates/{}/production-approval",
        {"approved": True},
    ),
    "POST /v1/admin/messages/{message_id}/reprocess": lambda w: on(w.failed(), "messages/{}/reprocess"),
    "POST /v1/admin/webhooks/{webhook_id}/deliveries/{delivery_id}/replay": lambda w: on(
        w.tried(), "webhooks/{}/replay"
    ),
    "POST /v1/admin/webhooks/{webhook_id}/replay": lambda w: on(
        w.webhook(), "webhooks/{}/replay", {"from": "2020-01-01T00:00:00Z", "to": "2039-01-01T00:00:00Z"}
    ),
    "POST /v1/admin/webhooks/{webhook_id}/enable": lambda w: on(w.webhook(), "webhooks/{}/enable"),
    "POST /v1/admin/messages/{message_id}/cancel": lambda w: on(w.queued(), "messages/{}/cancel"),
    "POST /v1/admin/dead-letters/replay": lambda w: to("dead-letters/replay", queue="messages--padaria"),
    "POST /v1/admin/dead-letters/discard": lambda w: to("dead-letters/discard", ids=[str(uuid4())], reason="Old."),
    "POST /v1/admin/dead-letters/{letter_id}/replay": lambda w: on(w.letter(), "dead-letters/{}/replay"),
    "POST /v1/admin/dead-letters/{letter_id}/discard": lambda w: on(
        w.letter(), "dead-letters/{}/discard", {"reason": "Old."}
    ),
    "POST /v1/admin/recipients/erase": lambda w: to("recipients/erase", tenantId=w.account.tenant_id, phone=PHONE),
    "POST /v1/admin/operators": lambda w: to("operators", name="Caio", role="viewer"),
    "PATCH /v1/admin/operators/{operator_id}": lambda w: on(
        w.made("operators", name="Caio", role="viewer"), "operators/{}", {"role": "operator"}
    ),
    "DELETE /v1/admin/operators/{operator_id}": lambda w: on(
        w.made("operators", name="Caio", role="viewer"), "operators/{}"
    ),
}
