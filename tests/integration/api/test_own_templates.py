"""A client's templates: written, submitted, decided by an operator, sent; and who may see and send which."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pilot_status import types as sdk
from tests.sdk_shapes import fits

from .customers import Customer, new_customer
from .running import OPERATOR_KEY, RunningApi, at_once, code_of, soon

BODY = "Olá {{nome}}, pedido {{pedido}} pronto."
EXAMPLES = {"nome": "Ana", "pedido": "1"}


async def create(customer: Customer, *, key: str | None = None, **more: Any) -> httpx.Response:
    body = {"name": f"t_{uuid4().hex[:8]}", "category": "UTILITY", "body": BODY, "examples": EXAMPLES, **more}
    return await customer.call("POST", "templates", key=key or customer.account.key, body=body)


async def created(customer: Customer, **more: Any) -> dict[str, Any]:
    answer = await create(customer, **more)
    assert answer.status_code == 201, answer.text
    template: dict[str, Any] = answer.json()
    return template


async def as_client(customer: Customer, method: str, path: str, body: Any = None) -> httpx.Response:
    return await customer.call(method, f"templates/{path}", key=customer.account.key, body=body)


async def decide(customer: Customer, template_id: str, decision: str, **body: Any) -> httpx.Response:
    return await customer.api.client.post(
        f"/v1/admin/templates/{template_id}/{decision}", json=body, headers={"x-operator-key": OPERATOR_KEY}
    )


async def approved(customer: Customer, **more: Any) -> dict[str, Any]:
    template = await created(customer, **more)
    assert (await as_client(customer, "POST", f"{template['id']}/submit")).status_code == 200
    answer = await decide(customer, template["id"], "approve", version=1)
    assert answer.status_code == 200, answer.text
    return template


async def test_listed_and_read_in_the_shapes_of_the_sdk(customer: Customer) -> None:
    template = await created(customer)
    listed = await customer.done("GET", "templates", key=customer.account.key)
    fits(list[sdk.TemplateListItem], listed)
    assert [(row["id"], row["sendable"], row["metaStatus"]) for row in listed] == [(template["id"], False, None)]
    for reference in (template["id"], template["name"]):
        answer = await as_client(customer, "GET", reference)
        fits(sdk.TemplateDetail, answer.json())
        assert answer.json()["body"] == BODY
        assert answer.json()["variables"] == ["nome", "pedido"]
        assert answer.json()["latestVersion"]["examples"] == EXAMPLES
    for unknown in ("nope", str(uuid4())):
        assert code_of(await as_client(customer, "GET", unknown)) == (404, "TEMPLATE_NOT_FOUND")


async def test_from_draft_to_sent(customer: Customer) -> None:
    template = await created(customer)
    send = {"templateId": template["name"], "variables": {"nome": "Ana", "pedido": 7}}
    assert code_of(await customer.api.send(customer.account.key, **send)) == (400, "NO_APPROVED_VERSION")
    early = await decide(customer, template["id"], "approve", version=1)
    assert code_of(early) == (409, "TEMPLATE_STATE_CONFLICT")
    submitted = (await as_client(customer, "POST", f"{template['id']}/submit")).json()
    assert submitted["latestVersion"]["status"] == "SUBMITTED"
    again = await as_client(customer, "POST", f"{template['id']}/submit")
    assert code_of(again) == (409, "TEMPLATE_STATE_CONFLICT")
    assert (await decide(customer, template["id"], "approve", version=1)).status_code == 200

    async def is_sent() -> bool:
        return (await customer.api.send(customer.account.key, **send)).status_code == 202

    await soon(is_sent, "the approved template sent")
    assert (await as_client(customer, "GET", template["id"])).json()["sendable"] is True


async def test_what_waits_is_shown_to_operators(customer: Customer) -> None:
    template = await created(customer)
    await as_client(customer, "POST", f"{template['id']}/submit")

    async def waiting() -> list[str]:
        answer = await customer.api.client.get("/v1/admin/templates/waiting", headers={"x-operator-key": OPERATOR_KEY})
        return [row["id"] for row in answer.json() if row["projectId"] == customer.account.project_id]

    assert await waiting() == [template["id"]]
    rejected = await decide(customer, template["id"], "reject", version=1, reason="Falta o nome da loja.")
    assert rejected.json()["latestVersion"]["status"] == "REJECTED"
    assert await waiting() == []
    latest = (await as_client(customer, "GET", template["id"])).json()["latestVersion"]
    assert latest["rejectionReason"] == "Falta o nome da loja."


async def test_the_latest_approved_version_is_sent_while_a_new_one_is_written(customer: Customer) -> None:
    template = await approved(customer)
    written = await as_client(customer, "PUT", template["id"], {"body": "Novo texto {{nome}}!", "examples": EXAMPLES})
    assert written.status_code == 200, written.text
    assert (written.json()["latestVersion"]["version"], written.json()["approvedVersion"]) == (2, 1)
    assert written.json()["body"] == BODY
    rewritten = await as_client(customer, "PUT", template["id"], {"body": "Outro {{nome}}!", "examples": EXAMPLES})
    assert rewritten.json()["latestVersion"]["version"] == 2
    fresh = await as_client(
        customer, "POST", f"{template['id']}/versions", {"body": "Mais um {{nome}}!", "examples": EXAMPLES}
    )
    assert (fresh.status_code, fresh.json()["latestVersion"]["version"]) == (201, 3)
    stale = await decide(customer, template["id"], "approve", version=2)
    assert code_of(stale) == (404, "TEMPLATE_VERSION_NOT_FOUND")
    await as_client(customer, "POST", f"{template['id']}/submit")
    assert (await decide(customer, template["id"], "approve", version=3)).status_code == 200
    assert (await as_client(customer, "GET", template["id"])).json()["body"] == "Mais um {{nome}}!"


async def test_live_keys_need_the_approval_for_production(api: RunningApi, customer: Customer) -> None:
    template = await approved(customer)
    shown = await decide(customer, template["id"], "production-approval", approved=True)
    assert shown.json()["latestVersion"]["productionApproved"] is True
    live = await api.key(customer.account.project_id, environment="LIVE")
    assert (await customer.done("GET", f"templates/{template['id']}", key=live))["sendable"] is True
    await decide(customer, template["id"], "production-approval", approved=False)
    assert (await customer.done("GET", f"templates/{template['id']}", key=live))["sendable"] is False
    draft = await created(customer)
    none = await decide(customer, draft["id"], "production-approval", approved=True)
    assert code_of(none) == (404, "TEMPLATE_VERSION_NOT_FOUND")


async def test_project_and_environment_mismatch_are_told_apart(api: RunningApi, customer: Customer) -> None:
    template = await approved(customer)
    for_live = await approved(customer, environment="LIVE")
    sibling = await api.operator("projects", tenantId=customer.account.tenant_id, name="outra")
    other_key = await api.key(sibling["id"])
    variables = {"nome": "Ana", "pedido": "1"}
    for reference in (template["id"], template["name"]):
        foreign = await api.send(other_key, templateId=reference, variables=variables)
        assert code_of(foreign) == (403, "TEMPLATE_PROJECT_MISMATCH")
    wrong = await api.send(customer.account.key, templateId=for_live["name"], variables=variables)
    assert code_of(wrong) == (403, "TEMPLATE_ENVIRONMENT_MISMATCH")
    stranger = await new_customer(api)
    for reference in (template["id"], template["name"]):
        unknown = await api.send(stranger.account.key, templateId=reference, variables=variables)
        assert code_of(unknown) == (404, "TEMPLATE_NOT_FOUND")


async def test_the_own_template_wins_over_one_of_the_same_name(api: RunningApi, customer: Customer) -> None:
    template = await approved(customer)
    sibling = await api.operator("projects", tenantId=customer.account.tenant_id, name="outra")
    await api.operator(
        "templates", projectId=sibling["id"], name=template["name"], category="OTP", body="Codigo {{x}} de outra"
    )
    sent = await api.send(customer.account.key, templateId=template["name"], variables={"nome": "Ana", "pedido": "1"})
    assert sent.status_code == 202, sent.text


async def test_names_become_machine_names_and_are_unique_also_at_once(customer: Customer) -> None:
    name = f"Pedido pronto-{uuid4().hex[:6]}"
    answers = await at_once(*(create(customer, name=name) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert {code_of(answer)[1] for answer in answers if answer.is_error} == {"TEMPLATE_ALREADY_EXISTS"}
    stored = next(answer.json()["name"] for answer in answers if answer.is_success)
    assert stored == name.replace(" ", "_").replace("-", "_")
    for odd in ("ação", "", "a" * 101, "a\x00b", "_"):
        assert (await create(customer, name=odd)).status_code == 400, odd


@pytest.mark.parametrize("tenant_call", ["GET templates", "POST templates", "DELETE templates/x", "GET templates/x"])
async def test_a_tenant_key_has_no_templates(customer: Customer, tenant_call: str) -> None:
    method, path = tenant_call.split()
    body = {"name": "a", "category": "OTP", "body": "a"} if method == "POST" else None
    assert code_of(await customer.call(method, path, body=body)) == (403, "TENANT_SCOPE_NOT_ALLOWED")


async def test_what_may_not_be_saved(customer: Customer) -> None:
    missing = await create(customer, examples={"nome": "Ana"})
    assert code_of(missing) == (400, "TEMPLATE_EXAMPLES_REQUIRED")
    assert missing.json()["details"] == {"missing": ["pedido"]}
    for body, field in (
        ("{{nome}} olá {{pedido}}.", "body.body"),
        ("Olá {{nome}}, {{pedido}} ", "body.body"),
        ("Olá {{nome} {{pedido}}.", "body"),
        ("Olá " + "x" * 1021, "body.body"),
        ("   ", "body"),
        ({"body": BODY, "footer": "de {{nome}}"}, "body.footer"),
        ({"body": BODY, "header": {"format": "TEXT", "text": "{{nome}} {{pedido}}"}}, "body.header"),
        ({"body": BODY, "header": {"type": "TEXT", "text": "x" * 61}}, "body.header"),
        (
            {"body": BODY, "buttons": [{"type": "URL", "text": "Ver", "url": "https://a.example/{{nome}}/x"}]},
            "body.buttons.0",
        ),
        ('{"body": 7}', "body.body"),
    ):
        answer = await create(customer, body=body)
        assert code_of(answer) == (400, "TEMPLATE_INVALID"), (body, answer.text)
        assert answer.json()["details"][0]["field"] == field, (body, answer.text)
    for wrong in ({"category": "PROMO"}, {"language": "portuguese"}, {"body": None}, {"environment": "PROD"}):
        assert (await create(customer, **wrong)).status_code == 400, wrong
    assert await customer.done("GET", "templates", key=customer.account.key) == []


async def test_the_documented_words_for_headers_and_buttons_are_understood(customer: Customer) -> None:
    body = {
        "header": {"format": "TEXT", "text": "Loja"},
        "body": BODY,
        "footer": "Obrigado",
        "buttons": [
            {"type": "URL", "text": "Ver", "url": "https://loja.example/{{pedido}}"},
            {"type": "COPY_CODE", "text": "Copiar", "example": ["ABC"]},
        ],
        "defaults": {"nome": "cliente"},
    }
    for given in (body, json.dumps(body)):
        version = (await created(customer, body=given))["latestVersion"]
        assert version["header"] == {"type": "text", "content": "Loja"}
        assert [(button["type"], button["label"]) for button in version["buttons"]] == [
            ("url", "Ver"),
            ("copy", "Copiar"),
        ]
        assert version["buttons"][1]["copyCode"] == "ABC"
        assert version["defaults"] == {"nome": "cliente"}
    without = await created(customer, body={"header": {"type": "NONE"}, "body": BODY})
    assert without["latestVersion"]["header"] is None


async def test_a_category_stays_and_a_deleted_template_is_gone(customer: Customer) -> None:
    template = await approved(customer)
    moved = await as_client(
        customer, "PUT", template["id"], {"body": BODY, "examples": EXAMPLES, "category": "MARKETING"}
    )
    assert code_of(moved) == (400, "TEMPLATE_INVALID")
    stranger = await new_customer(customer.api)
    for method, path in (("PUT", ""), ("DELETE", ""), ("POST", "/submit"), ("POST", "/versions")):
        body = {"body": BODY, "examples": EXAMPLES}
        answer = await as_client(stranger, method, f"{template['id']}{path}", body)
        assert code_of(answer) == (404, "TEMPLATE_NOT_FOUND"), path
    assert (await as_client(customer, "DELETE", template["name"])).json() == {"ok": True}
    assert code_of(await as_client(customer, "GET", template["id"])) == (404, "TEMPLATE_NOT_FOUND")
    assert (await create(customer, name=template["name"])).status_code == 201
