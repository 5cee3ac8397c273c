"""POST /v1/messages/send: a 202 is a promise with a row and a fact behind it; everything else explains itself."""

from typing import Any
from uuid import UUID

import pytest

from contracts.facts import MessageAccepted
from contracts.values import ConnectionState

from .running import RunningApi, at_once, code_of, soon


async def test_a_text_is_accepted_and_answered_as_published(api: RunningApi) -> None:
    account = await api.account()
    answer = await api.send(account.key, text="Olá")
    assert answer.status_code == 202
    body = answer.json()
    always = {"id", "correlationId", "status", "createdAt", "origin", "sourceNumber"}
    assert always <= set(body) <= always | {"estimatedDispatchAt"}
    assert UUID(body["id"]).version == 7
    assert (body["status"], body["origin"], body["sourceNumber"]) == ("QUEUED", "Pilot", "5511900000000")
    assert body["createdAt"].endswith("Z")


async def test_a_template_is_found_by_name_and_by_id(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="Oi {{nome}}", name="boas_vindas")
    assert template["variables"] == ["nome"]
    for reference in (template["id"], "boas_vindas"):
        answer = await api.send(account.key, templateId=reference, variables={"nome": "Ana"})
        assert answer.status_code == 202
        details = (await api.get(account.key, f"messages/{answer.json()['id']}")).json()
        assert details["template"] == "boas_vindas"


async def test_what_the_sdk_sends_along_is_no_trouble(api: RunningApi) -> None:
    account = await api.account()
    nulls: dict[str, Any] = {
        "templateId": None,
        "media": None,
        "deliverAt": None,
        "header": None,
        "footer": None,
        "variables": {},
    }
    answer = await api.send(account.key, text="oi", somethingNew=[1], **nulls)
    assert answer.status_code == 202


async def test_row_and_fact_are_one_commit_and_a_broker_that_is_away_changes_nothing(
    api: RunningApi, default_number: str
) -> None:
    account = await api.account()
    api.broker_wire.cut()
    answers = await at_once(*(api.send(account.key, text=f"oi {number}") for number in range(30)))
    assert {answer.status_code for answer in answers} == {202}
    ids = [UUID(answer.json()["id"]) for answer in answers]
    rows = await api.rows("SELECT id, xmin::text AS commit FROM api.messages WHERE id = ANY($1)", ids)
    facts = await api.rows(
        "SELECT body, routing_key, xmin::text AS commit FROM api.outbox WHERE type = $1", MessageAccepted.TYPE
    )
    commits = {MessageAccepted.model_validate_json(row["body"]).ref.message_id: row["commit"] for row in facts}
    assert {row["id"]: row["commit"] for row in rows} == {message_id: commits[message_id] for message_id in ids}
    assert {row["routing_key"] for row in facts} == {f"message.accepted.{default_number}"}
    await api.mend()

    async def is_published() -> bool:
        return not await api.rows("SELECT 1 FROM api.outbox")

    await soon(is_published, "everything published once the broker is back")


async def test_the_older_path_is_the_same_api(api: RunningApi) -> None:
    account = await api.account()
    answer = await api.send(account.key, path="/api/v1/messages/send")
    assert answer.status_code == 202
    headers = {"x-api-key": account.key}
    for prefix in ("/v1", "/api/v1"):
        found = await api.client.get(f"{prefix}/messages/{answer.json()['id']}", headers=headers)
        assert found.json()["id"] == answer.json()["id"]


@pytest.mark.parametrize("key", [None, "", "nonsense", f"ps_test_{'a' * 12}_{'b' * 43}", "x" * 5_000, "ps_live_é"])
async def test_a_key_that_is_none_is_401_before_anything_else_is_judged(api: RunningApi, key: str | None) -> None:
    headers = {b"x-api-key": key.encode()} if key is not None else {}
    for body in ({"destinationNumber": 5, "text": []}, {"destinationNumber": "+5547991000000", "text": "oi"}):
        answer = await api.client.post("/v1/messages/send", json=body, headers=headers)
        assert code_of(answer) == (401, "API_KEY_INVALID")
    assert code_of(await api.client.get("/v1/messages/x", headers=headers)) == (401, "API_KEY_INVALID")


async def test_a_key_with_another_secret_or_environment_is_401(api: RunningApi) -> None:
    account = await api.account()
    other = await api.account()
    swapped = account.key[:21] + other.key[21:]
    assert code_of(await api.send(swapped)) == (401, "API_KEY_INVALID")
    assert code_of(await api.send(account.key.replace("_test_", "_live_"))) == (401, "API_KEY_INVALID")
    assert (await api.send(account.key)).status_code == 202


async def test_a_revoked_key_is_refused_within_the_bound(api: RunningApi) -> None:
    account = await api.account()
    assert (await api.send(account.key)).status_code == 202
    await api.rows("UPDATE api.api_keys SET revoked_at = now() WHERE public_id = $1", account.key.split("_")[2])

    async def is_refused() -> bool:
        return (await api.send(account.key)).status_code == 401

    await soon(is_refused, "the key refused")
    assert code_of(await api.send(account.key)) == (401, "API_KEY_INVALID")


async def test_case_23_missing_variables_are_named(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="{{nome}} {{valor}}")
    for variables in ({}, {"nome": None, "valor": 0}, {"nome": "  ", "valor": 0}, {"nome ": "a", "valor": 0}):
        answer = await api.send(account.key, templateId=template["id"], variables=variables)
        assert code_of(answer) == (400, "MISSING_TEMPLATE_VARIABLES")
        assert "`nome`" in answer.json()["error"]
    answer = await api.send(account.key, templateId=template["id"], variables={"nome": "Ana", "valor": 0})
    assert answer.status_code == 202


async def test_another_projects_template_does_not_exist(api: RunningApi) -> None:
    mine, theirs = await api.account(), await api.account()
    template = await api.template(theirs, body="oi")
    for reference in (template["id"], template["name"]):
        assert code_of(await api.send(mine.key, templateId=reference)) == (404, "TEMPLATE_NOT_FOUND")


async def test_live_needs_approval_of_project_and_template(api: RunningApi) -> None:
    unapproved = await api.account(environment="LIVE")
    assert code_of(await api.send(unapproved.key)) == (403, "PRODUCTION_NOT_APPROVED")
    approved = await api.account(environment="LIVE", approved=True)
    await api.opt_in(approved.key)
    assert (await api.send(approved.key)).status_code == 202
    draft = await api.template(approved, body="oi")
    refused = await api.send(approved.key, templateId=draft["id"])
    assert code_of(refused) == (403, "TEMPLATE_NOT_APPROVED_FOR_PRODUCTION")
    final = await api.template(approved, body="oi", productionApproved=True)
    assert (await api.send(approved.key, templateId=final["id"])).status_code == 202


async def test_a_template_without_approved_version_cannot_be_sent(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="oi")
    await api.rows("UPDATE api.template_versions SET approved_at = NULL WHERE template_id = $1", UUID(template["id"]))
    assert code_of(await api.send(account.key, templateId=template["id"])) == (400, "NO_APPROVED_VERSION")


async def test_a_bound_number_must_be_open(api: RunningApi) -> None:
    number = await api.number()
    account = await api.account(number_id=number["id"])
    assert code_of(await api.send(account.key)) == (409, "NUMBER_NOT_OPEN")
    opened = await api.number(state=ConnectionState.OPEN)
    key = await api.key(account.project_id, number_id=opened["id"])
    answer = await api.send(key)
    assert (answer.status_code, answer.json()["origin"]) == (202, opened["instance"])
    closed = await api.number(state=ConnectionState.CLOSE)
    key = await api.key(account.project_id, number_id=closed["id"])
    assert code_of(await api.send(key)) == (409, "NUMBER_NOT_OPEN")


async def test_without_default_number_the_platform_says_that_it_is_at_fault(
    api: RunningApi, default_number: str
) -> None:
    account = await api.account()
    change = "UPDATE api.numbers SET platform_default = $1 WHERE instance = $2"
    await api.rows(change, False, default_number)
    try:
        assert code_of(await api.send(account.key)) == (500, "DEFAULT_NUMBER_NOT_CONFIGURED")
    finally:
        await api.rows(change, True, default_number)

    async def is_back() -> bool:
        return (await api.send(account.key)).status_code == 202

    await soon(is_back, "the default number back in use")


async def test_while_the_database_is_away_the_answer_is_503_and_the_api_recovers(api: RunningApi) -> None:
    account = await api.account()
    assert (await api.send(account.key)).status_code == 202
    api.database_wire.cut()
    for answer in await at_once(*(api.send(account.key) for _ in range(20))):
        assert code_of(answer) == (503, "SERVICE_UNAVAILABLE")
        assert int(answer.headers["retry-after"]) >= 1
    assert code_of(await api.get(account.key, "messages/x")) == (503, "SERVICE_UNAVAILABLE")
    assert (await api.client.get("/live")).status_code == 200
    assert (await api.client.get("/ready")).status_code == 503
    await api.mend()
    assert (await api.send(account.key)).status_code == 202
