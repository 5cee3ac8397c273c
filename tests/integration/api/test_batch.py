"""POST /v1/messages/batch: every item is judged for itself, and has its own idempotency key."""

from typing import Any
from uuid import UUID

import httpx

from contracts.values import ConnectionState

from .running import Account, RunningApi, code_of

DESTINATION = "+5547991000000"


async def send(api: RunningApi, key: str, *items: Any) -> httpx.Response:
    return await api.client.post("/v1/messages/batch", json={"messages": items}, headers={"x-api-key": key})


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"destinationNumber": DESTINATION, "text": content, **more}


async def count(api: RunningApi, account: Account) -> int:
    return len(await api.rows("SELECT 1 FROM api.messages WHERE project_id = $1", UUID(account.project_id)))


async def test_a_bad_item_does_not_fail_the_others(api: RunningApi) -> None:
    account = await api.account()
    template = await api.template(account, body="Oi {{nome}}")
    named = {"destinationNumber": DESTINATION, "templateId": template["id"]}
    answer = await send(
        api,
        account.key,
        text("um"),
        text(" "),
        {"text": 5},
        "nothing",
        None,
        {**named, "variables": {"nome": "Ana"}},
        {**named, "variables": {"nome": " "}},
        {"destinationNumber": "n/a", "text": "x"},
        {"destinationNumber": DESTINATION, "templateId": "unknown"},
    )
    assert answer.status_code == 200
    body = answer.json()
    assert (body["accepted"], body["refused"]) == (2, 7)
    assert [result["index"] for result in body["results"]] == list(range(9))
    assert [(result["status"], result.get("code")) for result in body["results"]] == [
        (202, None),
        (400, "TEXT_INVALID"),
        (400, "VALIDATION_FAILED"),
        (400, "VALIDATION_FAILED"),
        (400, "VALIDATION_FAILED"),
        (202, None),
        (400, "MISSING_TEMPLATE_VARIABLES"),
        (400, "DESTINATION_INVALID"),
        (404, "TEMPLATE_NOT_FOUND"),
    ]
    assert body["results"][1]["details"][0]["field"] == "text"
    assert await count(api, account) == 2
    message_id = body["results"][0]["message"]["id"]
    assert (await api.get(account.key, f"messages/{message_id}")).status_code == 200


async def test_case_47_items_have_their_own_keys(api: RunningApi) -> None:
    account = await api.account()
    items = [
        text("um", idempotencyKey="a"),
        text("um", idempotencyKey="a"),
        text("dois", idempotencyKey="a"),
        text("três", idempotencyKey="b"),
        text("x", idempotencyKey=""),
    ]
    first = (await send(api, account.key, *items)).json()["results"]
    assert [(result["status"], result.get("replayed"), result.get("code")) for result in first] == [
        (202, False, None),
        (202, True, None),
        (409, None, "IDEMPOTENCY_KEY_REUSED"),
        (202, False, None),
        (400, None, "IDEMPOTENCY_KEY_INVALID"),
    ]
    assert first[0]["message"] == first[1]["message"]
    again = (await send(api, account.key, *items)).json()["results"]
    assert [result.get("replayed") for result in again] == [True, True, None, True, None]
    assert again[3]["message"] == first[3]["message"]
    assert await count(api, account) == 2


async def test_at_a_limit_the_first_items_pass(api: RunningApi) -> None:
    account = await api.account(environment="LIVE", approved=True)
    number = await api.number(state=ConnectionState.OPEN)
    key = await api.key(account.project_id, environment="LIVE", number_id=number["id"])
    await api.plan(account, liveMonthly=7)
    answer = await send(api, key, *(text(f"oi {n}") for n in range(20)))
    assert [result["status"] for result in answer.json()["results"]] == [202] * 7 + [429] * 13
    refused = answer.json()["results"][-1]
    assert (refused["code"], refused["limit"]["max"]) == ("LIVE_MONTHLY_LIMIT_EXCEEDED", 7)


async def test_five_hundred_are_the_most_and_are_stored_together(api: RunningApi) -> None:
    account = await api.account()
    answer = await send(api, account.key, *(text(f"oi {n}") for n in range(500)))
    assert answer.json()["accepted"] == 500
    commits = await api.rows(
        "SELECT count(DISTINCT xmin::text) AS commits FROM api.messages WHERE project_id = $1", UUID(account.project_id)
    )
    assert commits[0]["commits"] <= 5
    for items in ((), [text("oi")] * 501):
        assert code_of(await send(api, account.key, *items)) == (400, "VALIDATION_FAILED")
    documents: list[Any] = [{}, [], {"messages": None}, {"messages": "x"}]
    for document in documents:
        refused = await api.client.post("/v1/messages/batch", json=document, headers={"x-api-key": account.key})
        assert code_of(refused) == (400, "VALIDATION_FAILED")


async def test_a_batch_needs_a_key(api: RunningApi) -> None:
    assert code_of(await send(api, "nonsense", text("oi"))) == (401, "API_KEY_INVALID")
