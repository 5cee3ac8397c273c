"""One walk over every documented route, with its documented examples, as the customer and operator they belong to."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from api.app.documentation.requests import IDS, REQUESTS
from chassis.testing.waiting import eventually

from .customers import set_state
from .running import OPERATOR_KEY, RunningApi
from .stored import fail

PATH_IDS = {
    "reference": "message",
    "number_id": "number",
    "webhook_id": "webhook",
    **{f"{name}_id": name for name in ("tenant", "plan", "project", "package", "profile", "opt_in", "key", "template")},
    "operator_id": "operator",
    "message_id": "message",
    "delivery_id": "delivery",
    "letter_id": "dead_letter",
    "erasure_id": "erasure",
}
"""Which thing a placeholder of a path stands for."""


@dataclass(frozen=True, slots=True)
class Step:
    """`keeps` names the thing whose id the answer holds; `by` is the kind of key; `example` one of several."""

    operation: str
    keeps: str | None = None
    by: str = "key"
    example: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    before: str | None = None


ADMIN = (
    Step("POST /v1/admin/tenants", "tenant"),
    Step("GET /v1/admin/tenants"),
    Step("GET /v1/admin/tenants/{tenant_id}"),
    Step("POST /v1/admin/plans", "plan"),
    Step("GET /v1/admin/plans"),
    Step("GET /v1/admin/plans/{plan_id}"),
    Step("PATCH /v1/admin/plans/{plan_id}"),
    Step("PATCH /v1/admin/tenants/{tenant_id}"),
    Step("POST /v1/admin/projects", "project"),
    Step("GET /v1/admin/projects"),
    Step("GET /v1/admin/projects/{project_id}"),
    Step("PATCH /v1/admin/projects/{project_id}"),
    Step("POST /v1/admin/packages", "package"),
    Step("GET /v1/admin/packages"),
    Step("GET /v1/admin/packages/{package_id}"),
    Step("POST /v1/admin/profiles", "profile"),
    Step("GET /v1/admin/profiles"),
    Step("GET /v1/admin/profiles/{profile_id}"),
    Step("PATCH /v1/admin/profiles/{profile_id}"),
    Step("POST /v1/admin/opt-ins", "opt_in"),
    Step("GET /v1/admin/opt-ins"),
    Step("GET /v1/admin/opt-ins/{opt_in_id}"),
    Step("POST /v1/admin/templates", "template"),
    Step("POST /v1/admin/operators", "operator"),
    Step("GET /v1/admin/operators"),
    Step("GET /v1/admin/operators/{operator_id}"),
    Step("PATCH /v1/admin/operators/{operator_id}"),
    Step("DELETE /v1/admin/operators/{operator_id}"),
)
PAIRING = (
    Step("POST /v1/numbers", "number", by="tenant key"),
    Step("GET /v1/numbers/{number_id}/connect", by="tenant key"),
    Step("POST /v1/admin/keys", "key"),
    Step("GET /v1/numbers/{number_id}/status", by="tenant key", before="scan"),
)
CLIENT = (
    Step("GET /v1/numbers/{number_id}"),
    Step("GET /v1/numbers"),
    Step("PATCH /v1/numbers/{number_id}"),
    Step("POST /v1/numbers/{number_id}/pay", by="tenant key"),
    Step("GET /v1/groups"),
    Step("GET /v1/projects"),
    Step("POST /v1/projects"),
    Step("GET /v1/api-keys", by="tenant key"),
    Step("POST /v1/messages/send", "message", example="template"),
    Step("GET /v1/messages/{reference}"),
    Step("GET /v1/messages/{reference}/timeline"),
    Step("POST /v1/messages/batch"),
    Step("GET /v1/messages"),
    Step("GET /v1/messages/history", query={"pageSize": "10"}),
    Step("GET /v1/messages/opt-in", query={"destinationNumber": "+5547991000000"}),
    Step("POST /v1/opt-ins"),
    Step("DELETE /v1/opt-ins"),
    Step("GET /v1/analytics/dashboard", query={"tz": "America/Sao_Paulo"}),
    Step("POST /v1/webhooks", "webhook"),
    Step("GET /v1/webhooks"),
    Step("GET /v1/webhooks/{webhook_id}"),
    Step("PATCH /v1/webhooks/{webhook_id}"),
    Step("GET /v1/webhooks/{webhook_id}/logs"),
    Step("POST /v1/webhooks/{webhook_id}/rotate-secret"),
    Step("POST /v1/webhooks/{webhook_id}/test", "delivery"),
    Step("GET /v1/webhooks/{webhook_id}/deliveries", before="attempt"),
    Step("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay"),
    Step("POST /v1/webhooks/{webhook_id}/replay"),
    Step("POST /v1/templates", "template"),
    Step("GET /v1/templates"),
    Step("GET /v1/templates/{reference}"),
    Step("PUT /v1/templates/{reference}"),
    Step("POST /v1/templates/{reference}/submit"),
    Step("GET /v1/admin/templates/waiting"),
    Step("POST /v1/admin/templates/{template_id}/approve"),
    Step("POST /v1/admin/templates/{template_id}/production-approval"),
    Step("POST /v1/templates/{reference}/versions"),
    Step("POST /v1/templates/{reference}/submit"),
    Step("POST /v1/admin/templates/{template_id}/reject"),
)
FLEET = (
    Step("GET /v1/admin/keys"),
    Step("GET /v1/admin/numbers"),
    Step("GET /v1/admin/numbers/{number_id}"),
    Step("PUT /v1/admin/numbers/{number_id}/pacing"),
    Step("POST /v1/admin/numbers/{number_id}/pause"),
    Step("POST /v1/admin/numbers/{number_id}/resume"),
    Step("GET /v1/admin/numbers/{number_id}/lane"),
    Step("GET /v1/admin/numbers/{number_id}/status"),
    Step("GET /v1/admin/messages/waiting", query={"overdueSeconds": "0"}),
    Step("GET /v1/admin/messages/{reference}"),
    Step("GET /v1/admin/messages/{reference}/timeline"),
    Step("POST /v1/admin/messages/{message_id}/reprocess", before="failure"),
    Step("GET /v1/admin/webhooks", query={"tenantId": "tenant"}),
    Step("GET /v1/admin/webhooks/{webhook_id}"),
    Step("GET /v1/admin/webhooks/{webhook_id}/deliveries", before="attempt"),
    Step("POST /v1/admin/webhooks/{webhook_id}/deliveries/{delivery_id}/replay"),
    Step("POST /v1/admin/webhooks/{webhook_id}/replay"),
    Step("POST /v1/admin/webhooks/{webhook_id}/enable"),
    Step("POST /v1/admin/messages/{message_id}/cancel"),
    Step("GET /v1/admin/audit"),
)
LETTERS = (
    Step("GET /v1/admin/dead-letters", before="letter"),
    Step("GET /v1/admin/dead-letters/{letter_id}"),
    Step("POST /v1/admin/dead-letters/{letter_id}/replay"),
    Step("POST /v1/admin/dead-letters/{letter_id}/discard", before="letter"),
    Step("POST /v1/admin/dead-letters/replay", before="letter"),
    Step("POST /v1/admin/dead-letters/discard", before="letter"),
    Step("GET /v1/admin/reconciliation", query={"tenantId": "tenant"}),
)
PARTING = (
    Step("DELETE /v1/messages/cancel"),
    Step("DELETE /v1/templates/{reference}"),
    Step("DELETE /v1/webhooks/{webhook_id}"),
    Step("POST /v1/api-keys/regenerate"),
    Step("POST /v1/api-keys", by="tenant key"),
    Step("DELETE /v1/numbers/{number_id}", by="tenant key"),
    Step("POST /v1/numbers/{number_id}/restore", by="tenant key"),
    Step("DELETE /v1/numbers/{number_id}/purge", by="tenant key"),
    Step("DELETE /v1/admin/opt-ins/{opt_in_id}"),
    Step("DELETE /v1/admin/profiles/{profile_id}"),
    Step("DELETE /v1/admin/packages/{package_id}"),
    Step("POST /v1/admin/recipients/erase", "erasure"),
    Step("GET /v1/admin/recipients/erasures/{erasure_id}"),
    Step("POST /v1/admin/numbers", "number"),
    Step("POST /v1/admin/numbers/{number_id}/default", before="platform number"),
    Step("POST /v1/admin/plans", "plan"),
    Step("DELETE /v1/admin/plans/{plan_id}"),
    Step("POST /v1/admin/keys", "key"),
    Step("DELETE /v1/admin/keys/{key_id}"),
)


@dataclass(slots=True)
class Walk:
    """What was made so far: real ids in the place of the documented ones, and the keys."""

    api: RunningApi
    ids: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    instance: str = ""
    bury: Callable[[], Awaitable[str]] | None = None
    """Makes a dead letter; its id."""

    async def go(self, *steps: Step) -> None:
        for step in steps:
            await self._prepare(step)
            answer = await self.call(step)
            assert answer.is_success, (step.operation, answer.text)
            body = answer.json()
            self.answers.setdefault(step.operation, body)
            self._keep(step, body)

    async def to_clients(self) -> None:
        """Tenant, project and keys are there, and a number that is connected."""
        await self.go(*ADMIN)
        for name, scope in (("tenant key", "tenant"),):
            issued = await self.api.operator(
                "keys", projectId=self.ids["project"], environment="LIVE", name=name, scope=scope
            )
            self.keys[name] = issued["key"]
        await self.go(*PAIRING)

    async def call(self, step: Step, *, keys: Mapping[str, str] | None = None) -> httpx.Response:
        """The request of a step; with other keys if they are given."""
        method, path = step.operation.split(" ")
        return await self.api.client.request(
            method,
            self.path(path),
            params=self.query(step),
            json=self.body(step),
            headers=self.headers(step, keys if keys is not None else self.keys),
        )

    def path(self, template: str) -> str:
        names = {**PATH_IDS, "reference": "template"} if template.startswith("/v1/templates") else PATH_IDS
        for placeholder, name in names.items():
            template = template.replace(f"{{{placeholder}}}", self.ids.get(name, IDS[name]))
        return template

    def body(self, step: Step) -> Any:
        """The documented example about what is really there; names and phones of this walk alone."""
        examples = REQUESTS.get(step.operation)
        if examples is None:
            return None
        text = json.dumps(examples[step.example] if step.example else next(iter(examples.values())))
        for name, documented in IDS.items():
            text = text.replace(documented, self.ids.get(name, documented))
        for unique in ('"Start"', '"padaria"'):
            text = text.replace(unique, f'{unique[:-1]}-{uuid4().hex[:8]}"')
        for elsewhere in ("http://evolution:8080", "https://example.com/hooks"):
            text = text.replace(elsewhere, "http://127.0.0.1:9")
        return json.loads(text)

    def query(self, step: Step) -> dict[str, str]:
        """Its parameters; the name of a thing stands for its id."""
        return {name: self.ids.get(value, value) for name, value in step.query.items()}

    def headers(self, step: Step, keys: Mapping[str, str]) -> dict[str, str]:
        if "/v1/admin/" in step.operation:
            return {"x-operator-key": keys.get("operator", OPERATOR_KEY)}
        return {"x-api-key": keys[step.by]} if step.by in keys else {}

    async def _prepare(self, step: Step) -> None:
        if step.before == "scan":
            await set_state(self.api, self.instance, "open")
        if step.before == "failure":
            await fail(self.api, self.ids["message"])
        if step.before == "attempt":
            await eventually(self._is_attempted, "an attempt that has ended", timeout_seconds=20)
        if step.before == "letter" and self.bury is not None:
            self.ids["dead_letter"] = await self.bury()
        if step.before == "platform number":
            registered = await self.api.number()
            self.ids["number"] = registered["id"]

    async def _is_attempted(self) -> bool:
        """Nobody listens at the webhook's URL, so that the delivery waits for a retry."""
        listed = await self.call(Step("GET /v1/webhooks/{webhook_id}/deliveries"))
        [delivery] = [one for one in listed.json()["items"] if one["id"] == self.ids["delivery"]]
        return bool(delivery["problem"] and delivery["status"] == "PENDING")

    def _keep(self, step: Step, body: Any) -> None:
        if step.operation == "POST /v1/numbers":
            self.instance = body["instance"]["instanceName"]
            body = body["instance"]
        if step.keeps is not None:
            self.ids[step.keeps] = body["deliveryId" if step.keeps == "delivery" else "id"]
        if step.operation in ("POST /v1/admin/keys", "POST /v1/api-keys/regenerate"):
            self.keys["key"] = body["key"]


def steps() -> Iterator[Step]:
    """All of them, in order."""
    for part in (ADMIN, PAIRING, CLIENT, FLEET, LETTERS, PARTING):
        yield from part
