"""Bad input: every refusal says which field, in a sentence and a code, and stores nothing."""

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from .running import OPERATOR_KEY, RunningApi, code_of


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [
        (b'{"text": ', 1, 10),
        (b'{\n  "text": "a"\n  "b": 1}', 3, 3),
        (b"{'text': 1}", 1, 2),
        (b'{"text": NaN}', 1, None),
    ],
)
async def test_malformed_json_is_400_with_line_and_column(
    api: RunningApi, body: bytes, line: int, column: int | None
) -> None:
    account = await api.account()
    headers = {"x-api-key": account.key, "content-type": "application/json"}
    answer = await api.client.post("/v1/messages/send", content=body, headers=headers)
    assert code_of(answer) == (400, "MALFORMED_JSON")
    assert answer.json()["line"] == line
    assert column in (None, answer.json()["column"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"text": "half \\ud83d"}', "text"),
        (b'{"templateId": "t", "variables": {"nome": "\\udc00"}}', "variables.nome"),
    ],
)
async def test_case_10_half_a_pair_is_refused_by_the_name_of_its_field(
    api: RunningApi, body: bytes, field: str
) -> None:
    account = await api.account()
    headers = {"x-api-key": account.key, "content-type": "application/json"}
    answer = await api.client.post("/v1/messages/send", content=body, headers=headers)
    assert code_of(answer) == (400, "VALIDATION_FAILED")
    assert [detail["field"] for detail in answer.json()["details"]] == [field]


@pytest.mark.parametrize("content", [b'{"text": ', b'{"text": "\\u0000"}', b'{"text": "\\ud83d"}'])
@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/v1/messages/send", "API_KEY_INVALID"),
        ("POST", "/api/v1/messages/batch", "API_KEY_INVALID"),
        ("DELETE", "/v1/messages/cancel", "API_KEY_INVALID"),
        ("POST", "/v1/admin/tenants", "OPERATOR_KEY_INVALID"),
    ],
)
async def test_a_wrong_key_is_told_before_a_broken_body(
    api: RunningApi, method: str, path: str, code: str, content: bytes
) -> None:
    account = await api.account()
    for key in (None, "ps_test_nobody", f"{account.key[:-1]}!"):
        headers = {"content-type": "application/json"} | ({"x-api-key": key, "x-operator-key": key} if key else {})
        answer = await api.client.request(method, path, content=content, headers=headers)
        assert code_of(answer) == (401, code)
    right = {"x-api-key": account.key, "x-operator-key": OPERATOR_KEY, "content-type": "application/json"}
    answer = await api.client.request(method, path, content=content, headers=right)
    assert answer.status_code == 400


async def test_a_tenant_key_is_told_so_before_its_body_is_judged(api: RunningApi) -> None:
    account = await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="TEST", name="all", scope="tenant")
    for path, body in (("send", {"text": 5}), ("batch", {"messages": 5})):
        headers = {"x-api-key": str(issued["key"])}
        answer = await api.client.post(f"/v1/messages/{path}", json=body, headers=headers)
        assert code_of(answer) == (403, "TENANT_SCOPE_NOT_ALLOWED")


LIST = {"buttonText": "Abrir", "sections": [{"title": "Todos", "rows": [{"title": "Um", "rowId": "1"}]}]}

BAD_BODIES: list[tuple[dict[str, Any], tuple[int, str], str | None]] = [
    ({"destinationNumber": 33991000000}, (400, "DESTINATION_INVALID"), "destinationNumber"),
    ({"destinationNumber": True}, (400, "VALIDATION_FAILED"), "destinationNumber"),
    ({"destinationNumber": 5.547991e12}, (400, "VALIDATION_FAILED"), "destinationNumber"),
    ({"destinationNumber": ["+5547991000000"]}, (400, "VALIDATION_FAILED"), "destinationNumber"),
    ({"text": 5}, (400, "VALIDATION_FAILED"), "text"),
    ({"urgent": "yes"}, (400, "VALIDATION_FAILED"), "urgent"),
    ({"templateId": "t", "variables": []}, (400, "VALIDATION_FAILED"), "variables"),
    ({"deliverAt": 1735689600}, (400, "VALIDATION_FAILED"), "deliverAt"),
    ({"deliverAt": True}, (400, "VALIDATION_FAILED"), "deliverAt"),
    ({"deliverAt": "20250101"}, (400, "SCHEDULE_INVALID"), "deliverAt"),
    ({"deliverAt": "2025-06-02T09:00:00"}, (400, "SCHEDULE_INVALID"), "deliverAt"),
    ({"deliverUntil": ""}, (400, "SCHEDULE_INVALID"), "deliverUntil"),
    ({"destinationNumber": "33991000000"}, (400, "DESTINATION_INVALID"), "destinationNumber"),
    ({"destinationNumber": None}, (400, "DESTINATION_INVALID"), "destinationNumber"),
    ({"destinationNumber": ""}, (400, "DESTINATION_INVALID"), "destinationNumber"),
    ({"destinationNumber": "status@broadcast"}, (400, "DESTINATION_INVALID"), "destinationNumber"),
    ({"text": "x" * 4_097}, (400, "TEXT_INVALID"), "text"),
    ({"text": "  "}, (400, "TEXT_INVALID"), "text"),
    ({"text": None}, (400, "MODE_INVALID"), None),
    ({"text": "oi", "templateId": "t"}, (400, "MODE_INVALID"), None),
    ({"templateId": "unknown"}, (404, "TEMPLATE_NOT_FOUND"), "templateId"),
    ({"templateId": "01890000-0000-7000-8000-000000000000"}, (404, "TEMPLATE_NOT_FOUND"), "templateId"),
    ({"text": "a\x00b"}, (400, "VALIDATION_FAILED"), "text"),
    ({"templateId": "t", "variables": {"nome": "Ana\x00B"}}, (400, "VALIDATION_FAILED"), "variables.nome"),
    *(({mode: {"any": "thing"}}, (400, "MODE_NOT_SUPPORTED"), mode) for mode in ("carousel", "flow")),
    *(({mode: "x@g.us"}, (400, "DESTINATION_INVALID"), mode) for mode in ("groupId", "newsletterId")),
    ({"destinationNumber": None, "groupId": "1@g.us"}, (400, "MODE_NOT_SUPPORTED"), "groupId"),
    ({"media": {"any": "thing"}}, (400, "VALIDATION_FAILED"), "media"),
    ({"media": "https://example.org/a.png"}, (400, "MODE_INVALID"), "text"),
    ({"text": None, "media": "ftp://example.org/a"}, (400, "CONTENT_INVALID"), "media"),
    (
        {"text": None, "media": "https://example.org/a", "mediaType": "hologram"},
        (400, "VALIDATION_FAILED"),
        "mediaType",
    ),
    ({"caption": "veja"}, (400, "MODE_INVALID"), "caption"),
    ({"header": {"type": "text", "content": "x"}}, (400, "MODE_INVALID"), "header"),
    ({"footer": "x"}, (400, "MODE_INVALID"), "footer"),
    ({"buttons": [{"type": "reply"}]}, (400, "VALIDATION_FAILED"), "buttons.0.label"),
    ({"buttons": [{"type": "reply", "label": str(n)} for n in range(4)]}, (400, "CONTENT_INVALID"), "buttons"),
    ({"buttons": [{"type": "reply", "label": "x" * 21}]}, (400, "CONTENT_INVALID"), "buttons[0].label"),
    ({"list": {"buttonText": "x", "sections": []}}, (400, "CONTENT_INVALID"), "list.sections"),
    ({"list": LIST, "templateId": "t", "text": None}, (400, "MODE_INVALID"), "templateId"),
    ({"list": LIST, "buttons": [{"type": "reply", "label": "x"}]}, (400, "MODE_INVALID"), "buttons"),
    ({"list": LIST, "text": None}, (400, "MODE_INVALID"), None),
    ({"labels": ["a\nb"]}, (400, "VALIDATION_FAILED"), "labels.0"),
    ({"labels": [str(n) for n in range(21)]}, (400, "VALIDATION_FAILED"), "labels"),
    ({"markRead": "yes"}, (400, "VALIDATION_FAILED"), "markRead"),
]


@pytest.mark.parametrize(("body", "expected", "field"), BAD_BODIES)
async def test_a_bad_body_is_explained_by_field(
    api: RunningApi, body: dict[str, Any], expected: tuple[int, str], field: str | None
) -> None:
    account = await api.account()
    answer = await api.send(account.key, **body)
    assert code_of(answer) == expected
    if field is not None:
        assert answer.json()["details"][0]["field"] == field
    assert not await api.rows("SELECT 1 FROM api.messages WHERE project_id = $1", UUID(account.project_id))


@pytest.mark.parametrize("document", [[], "text", "", 5, None, [{"text": "oi"}]])
async def test_a_body_that_is_no_object_is_400(api: RunningApi, document: Any) -> None:
    account = await api.account()
    headers = {"x-api-key": account.key, "content-type": "application/json"}
    content = json.dumps(document) if document != "" else b""
    answer = await api.client.post("/v1/messages/send", content=content, headers=headers)
    assert code_of(answer) == (400, "VALIDATION_FAILED")


async def test_unknown_routes_and_methods_explain_themselves(api: RunningApi) -> None:
    assert code_of(await api.client.get("/v1/nothing")) == (404, "ROUTE_NOT_FOUND")
    assert code_of(await api.client.get("/v1/admin/nothing")) == (404, "ROUTE_NOT_FOUND")
    assert code_of(await api.client.delete("/v1/messages/send")) == (405, "METHOD_NOT_ALLOWED")


async def test_operator_routes_need_the_operator_key(api: RunningApi) -> None:
    account = await api.account()
    for headers in ({}, {"x-operator-key": "wrong"}, {"x-api-key": account.key}, {"x-operator-key": account.key}):
        answer: httpx.Response = await api.client.post("/v1/admin/tenants", json={"name": "x"}, headers=headers)
        assert code_of(answer) == (401, "OPERATOR_KEY_INVALID")


async def test_what_exists_already_or_does_not_is_said(api: RunningApi) -> None:
    account = await api.account()
    await api.template(account, body="oi", name="uma_vez")
    headers = {"x-operator-key": "operator-key-of-the-tests"}
    nobody = "01890000-0000-7000-8000-000000000000"
    gateway = {"gatewayUrl": "http://127.0.0.1:9", "gatewayApiKey": "k"}
    taken = (await api.number())["instance"]
    cases: list[tuple[str, dict[str, Any], tuple[int, str]]] = [
        (
            "templates",
            {"projectId": account.project_id, "name": "uma_vez", "category": "OTP", "body": "x"},
            (409, "ALREADY_EXISTS"),
        ),
        ("templates", {"projectId": nobody, "name": "x", "category": "OTP", "body": "x"}, (404, "PROJECT_NOT_FOUND")),
        ("projects", {"tenantId": nobody, "name": "x"}, (404, "TENANT_NOT_FOUND")),
        ("keys", {"projectId": nobody, "environment": "TEST", "name": "x"}, (404, "PROJECT_NOT_FOUND")),
        (
            "keys",
            {"projectId": account.project_id, "environment": "TEST", "name": "x", "numberId": nobody},
            (404, "NUMBER_NOT_FOUND"),
        ),
        ("numbers", {"instance": taken, **gateway}, (409, "ALREADY_EXISTS")),
        ("numbers", {"instance": "second", "platformDefault": True, **gateway}, (409, "ALREADY_EXISTS")),
        ("numbers", {"instance": "a b", **gateway}, (400, "VALIDATION_FAILED")),
    ]
    for path, body, expected in cases:
        answer = await api.client.post(f"/v1/admin/{path}", json=body, headers=headers)
        assert code_of(answer) == expected, (path, body)
