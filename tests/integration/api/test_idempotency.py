"""Case 47: one idempotency key, one message, however often and however parallel a client asks."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from contracts.values import ConnectionState

from .running import Account, RunningApi, at_once, code_of


async def send(api: RunningApi, key: str, idempotency_key: str, **body: Any) -> httpx.Response:
    wanted = {"destinationNumber": "+5547991000000"} | ({} if "templateId" in body else {"text": "Olá"}) | body
    headers = {"x-api-key": key, "idempotency-key": idempotency_key}
    return await api.client.post("/v1/messages/send", json=wanted, headers=headers)


async def count(api: RunningApi, account: Account) -> int:
    return len(await api.rows("SELECT 1 FROM api.messages WHERE project_id = $1", UUID(account.project_id)))


async def test_case_47_a_repeat_gets_the_same_answer_and_says_so(api: RunningApi) -> None:
    account = await api.account()
    first, again = [await send(api, account.key, "k1") for _ in range(2)]
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.content == again.content
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert await count(api, account) == 1


async def test_case_47_twenty_parallel_equal_calls_are_one_message(api: RunningApi) -> None:
    account = await api.account()
    answers = await at_once(*(send(api, account.key, "k1") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert await count(api, account) == 1
    facts = await api.rows("SELECT 1 FROM api.idempotency_keys WHERE project_id = $1", UUID(account.project_id))
    assert len(facts) == 1


async def test_case_47_another_message_under_the_same_key_is_refused(api: RunningApi) -> None:
    account = await api.account()
    answers = await at_once(*(send(api, account.key, "k1", text=f"oi {n % 2}") for n in range(10)))
    assert [answer.status_code for answer in answers].count(202) == 5
    assert {code_of(answer) for answer in answers if answer.status_code != 202} == {(409, "IDEMPOTENCY_KEY_REUSED")}
    assert code_of(await send(api, account.key, "k1", text="outro")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert code_of(await send(api, account.key, "k1", text=" ")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert await count(api, account) == 1


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"variables": {"a": 1, "b": 2}}, {"variables": {"b": 2, "a": 1}}),
        ({}, {"deliverAt": None, "urgent": False, "labels": [], "variables": {}, "newField": 1}),
        ({"deliverAt": "2030-01-01T12:00:00Z"}, {"deliverAt": "2030-01-01T09:00:00.000-03:00"}),
    ],
)
async def test_case_47_requests_are_compared_by_meaning(
    api: RunningApi, one: dict[str, Any], same: dict[str, Any]
) -> None:
    account = await api.account()
    template = await api.template(account, body="oi {{a}} {{b}}")
    extra: dict[str, Any] = {"templateId": template["id"]} if "variables" in one else {}
    if "deliverAt" in one:
        one, same = ({**body, "deliverUntil": "2030-01-02T12:00:00Z"} for body in (one, same))
    first = await send(api, account.key, "k1", **extra, **one)
    again = await send(api, account.key, "k1", **extra, **same)
    if first.status_code == 202:
        assert again.content == first.content
    else:
        assert code_of(first) == code_of(again)


@pytest.mark.parametrize(("one", "other"), [(0, "0"), (1, 2), ("", "0")])
async def test_case_47_a_falsy_value_is_a_value(api: RunningApi, one: Any, other: Any) -> None:
    account = await api.account()
    template = await api.template(account, body="x {{b}} {{a}}")
    values: dict[str, Any] = {"a": one or 0, "b": 1}
    assert (await send(api, account.key, "k", templateId=template["id"], variables=values)).status_code == 202
    again = await send(api, account.key, "k", templateId=template["id"], variables={**values, "a": other})
    assert code_of(again) == (409, "IDEMPOTENCY_KEY_REUSED")


async def test_case_47_a_refused_request_leaves_its_key_free(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, testDaily=0, testAnyone=True)
    assert code_of(await send(api, account.key, "k1", text=" ")) == (400, "TEXT_INVALID")
    assert code_of(await send(api, account.key, "k1", destinationNumber="n/a"))[0] == 400
    limited = await send(api, account.key, "k1", destinationNumber="+5547988887777")
    assert code_of(limited) == (429, "TEST_DAILY_LIMIT_EXCEEDED")
    assert (await send(api, account.key, "k1")).status_code == 202


async def test_case_47_parallel_equal_calls_at_a_limit_are_refused_alike_or_one_message(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, testDaily=1, testAnyone=True)
    stranger = "+5547988887777"
    answers = await at_once(
        *(send(api, account.key, f"k{n % 2}", destinationNumber=stranger, text=f"{n % 2}") for n in range(20))
    )
    by_key = [{answer.status_code for answer in answers[n::2]} for n in range(2)]
    assert sorted(map(sorted, by_key)) == [[202], [429]]
    assert await count(api, account) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a\x85b"])
async def test_case_47_a_bad_key_is_refused(api: RunningApi, key: str) -> None:
    account = await api.account()
    headers = {b"x-api-key": account.key.encode(), b"idempotency-key": key.encode("latin-1")}
    body = {"destinationNumber": "+5547991000000", "text": "oi"}
    answer = await api.client.post("/v1/messages/send", json=body, headers=headers)
    assert code_of(answer) == (400, "IDEMPOTENCY_KEY_INVALID")
    assert await count(api, account) == 0


async def test_case_47_a_key_of_255_characters_is_fine(api: RunningApi) -> None:
    account = await api.account()
    assert (await send(api, account.key, "x" * 255)).status_code == 202


async def test_case_47_keys_are_apart_between_projects_environments_and_numbers(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    number = await api.number(state=ConnectionState.OPEN)
    keys = [account.key, other.key, await api.key(account.project_id, number_id=number["id"])]
    answers = [await send(api, key, "k1") for key in keys]
    assert len({answer.json()["id"] for answer in answers}) == 3
    second_key_of_the_same = await api.key(account.project_id)
    assert (await send(api, second_key_of_the_same, "k1")).content == answers[0].content


async def test_case_47_a_replay_does_not_depend_on_what_changed_since(api: RunningApi) -> None:
    number = await api.number(state=ConnectionState.OPEN)
    account = await api.account(number_id=number["id"])
    first = await send(api, account.key, "k1")
    await api.rows("UPDATE api.numbers SET state = 'CLOSE' WHERE id = $1", UUID(number["id"]))
    fresh_key = await api.key(account.project_id, number_id=number["id"])
    assert code_of(await api.send(fresh_key)) == (409, "NUMBER_NOT_OPEN")
    again = await send(api, fresh_key, "k1")
    assert (again.status_code, again.content) == (202, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert code_of(await send(api, fresh_key, "k1", text="outro")) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert code_of(await send(api, fresh_key, "k2")) == (409, "NUMBER_NOT_OPEN")


async def test_case_47_after_a_day_a_key_is_forgotten(api: RunningApi) -> None:
    account = await api.account()
    first = await send(api, account.key, "k1")
    await api.rows(
        "UPDATE api.idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE project_id = $1",
        UUID(account.project_id),
    )
    second = await send(api, account.key, "k1")
    assert second.status_code == 202
    assert second.json()["id"] != first.json()["id"]
    assert (await send(api, account.key, "k1")).content == second.content
    assert await count(api, account) == 2


async def test_case_47_a_replay_counts_once(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, testDaily=1, testAnyone=True)
    for _ in range(3):
        answer = await send(api, account.key, "k1", destinationNumber="+5547988887777")
        assert answer.status_code == 202
    assert await count(api, account) == 1
