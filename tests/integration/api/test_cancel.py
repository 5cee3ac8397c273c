"""DELETE /v1/messages/cancel: the dispatcher decides, each id is told its own fate, and the reader sees it at once."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost
from contracts.facts import MessageDispatchCanceled, MessageDispatched, MessageUncertain
from contracts.facts.messages import Proof

from .answering import Dispatching, answering
from .running import Account, RunningApi, code_of, soon
from .stored import store
from .test_read import accepted, becomes


@pytest.fixture
async def dispatching(api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[Dispatching]:
    async with answering(api_database.url("dispatcher"), vhost.url) as dispatcher:
        yield dispatcher


async def cancel(api: RunningApi, key: str, *ids: Any) -> httpx.Response:
    headers = {"x-api-key": key}
    return await api.client.request("DELETE", "/v1/messages/cancel", json={"messageIds": list(ids)}, headers=headers)


def in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


async def test_a_scheduled_message_is_canceled_and_reads_canceled_at_once(
    api: RunningApi, dispatching: Dispatching
) -> None:
    account = await api.account()
    first, first_ref = await accepted(api, account, deliverAt=in_an_hour())
    second, second_ref = await accepted(api, account, deliverAt=in_an_hour())
    answer = await cancel(api, account.key, first, second_ref.correlation_id, "nope")
    assert answer.status_code == 200
    assert answer.json() == {
        "cancelled": [first, second_ref.correlation_id],
        "failed": [{"id": "nope", "reason": "NOT_FOUND"}],
    }
    for message_id in (first, second):
        details = (await api.get(account.key, f"messages/{message_id}")).json()
        assert (details["status"], details["version"], details["errorCode"]) == ("CANCELED", 2, None)
        assert details["canceledAt"] is not None
    timeline = (await api.get(account.key, f"messages/{first}/timeline")).json()
    assert [(step["what"], step["code"]) for step in timeline["steps"]][1:] == [("canceled", "CANCELED")]
    assert timeline["waitingFor"] is None
    assert first_ref.message_id != second_ref.message_id


async def test_the_fact_after_the_answer_changes_nothing(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account, deliverAt=in_an_hour())
    other_id, other = await accepted(api, account, deliverAt=in_an_hour())
    assert (await cancel(api, account.key, message_id)).json()["cancelled"] == [message_id]
    at = datetime.now(UTC)
    await api.say(MessageDispatchCanceled(ref=ref, canceled_at=at))
    await api.say(MessageDispatchCanceled(ref=other, canceled_at=at))
    details = await becomes(api, account, other_id, "CANCELED")
    assert details["version"] == 2, "the fact alone cancels too: the answer may be lost"
    details = await becomes(api, account, message_id, "CANCELED")
    assert details["version"] == 2
    steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
    assert [step["what"] for step in steps] == ["accepted", "canceled"]


async def test_a_canceled_message_stays_canceled(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account, deliverAt=in_an_hour())
    await cancel(api, account.key, message_id)
    again = await cancel(api, account.key, message_id)
    assert again.json() == {"cancelled": [message_id], "failed": []}, "a repeated request has the same answer"
    now = datetime.now(UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id="3EB0X", dispatched_at=now, proof=Proof.RESPONSE))

    async def is_recorded() -> bool:
        steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
        return "dispatched" in [step["what"] for step in steps]

    await soon(is_recorded, "the step")
    assert (await api.get(account.key, f"messages/{message_id}")).json()["status"] == "CANCELED"


async def test_canceled_is_reachable_from_queued_only(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    now = datetime.now(UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id="3EB0Q", dispatched_at=now, proof=Proof.RESPONSE))
    await becomes(api, account, message_id, "DISPATCHED")
    await api.say(MessageDispatchCanceled(ref=ref, canceled_at=now))

    async def is_recorded() -> bool:
        steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
        return "canceled" in [step["what"] for step in steps]

    await soon(is_recorded, "the step")
    details = (await api.get(account.key, f"messages/{message_id}")).json()
    assert (details["status"], details["canceledAt"]) == ("DISPATCHED", None)


async def test_what_the_dispatcher_is_sending_is_not_cancelable(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    await dispatching.claim(ref.message_id)
    answer = (await cancel(api, account.key, message_id)).json()
    assert answer == {"cancelled": [], "failed": [{"id": message_id, "reason": "NOT_CANCELABLE"}]}
    assert (await api.get(account.key, f"messages/{message_id}")).json()["status"] == "QUEUED"


async def test_what_may_have_been_sent_is_not_canceled_although_its_job_is_lost(
    api: RunningApi, dispatching: Dispatching
) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account)
    until = datetime.now(UTC) + timedelta(minutes=5)
    await api.say(MessageUncertain(ref=ref, attempt=1, reason="TIMEOUT", resolve_by=until))

    async def is_recorded() -> bool:
        steps = (await api.get(account.key, f"messages/{message_id}/timeline")).json()["steps"]
        return [step["what"] for step in steps] == ["accepted", "uncertain"]

    await soon(is_recorded, "the step")
    answer = (await cancel(api, account.key, message_id)).json()
    assert answer["failed"] == [{"id": message_id, "reason": "NOT_CANCELABLE"}]


@pytest.mark.parametrize("status", ["DISPATCHED", "SENT", "DELIVERED", "READ", "FAILED"])
async def test_what_has_moved_on_is_not_cancelable_without_asking(api: RunningApi, status: str) -> None:
    account = await api.account()
    [message_id] = await store(api, account, status=status)
    answer = (await cancel(api, account.key, message_id)).json()
    assert answer["failed"] == [{"id": message_id, "reason": "NOT_CANCELABLE"}]


async def test_other_peoples_messages_are_not_found(api: RunningApi, dispatching: Dispatching) -> None:
    account, other = await api.account(), await api.account()
    message_id, ref = await accepted(api, other, deliverAt=in_an_hour())
    [live] = await store(api, account, status="QUEUED", environment="LIVE")
    answer = (await cancel(api, account.key, message_id, ref.correlation_id, live)).json()
    assert {(failure["id"], failure["reason"]) for failure in answer["failed"]} == {
        (message_id, "NOT_FOUND"),
        (ref.correlation_id, "NOT_FOUND"),
        (live, "NOT_FOUND"),
    }
    assert (await api.get(other.key, f"messages/{message_id}")).json()["status"] == "QUEUED"


async def test_a_hundred_are_canceled_with_one_question(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    ids = await store(api, account, 100, status="QUEUED")
    answer = await cancel(api, account.key, *ids)
    assert answer.json() == {"cancelled": ids, "failed": []}
    rows = await api.rows("SELECT DISTINCT status FROM api.messages WHERE project_id = $1", UUID(account.project_id))
    assert [row["status"] for row in rows] == ["CANCELED"]


async def test_cancels_at_once_agree(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    ids = await store(api, account, 30, status="QUEUED")
    answers = await asyncio.gather(*(cancel(api, account.key, *order) for order in (ids, ids[::-1], ids, ids[::-1])))
    assert {answer.status_code for answer in answers} == {200}
    assert all(set(answer.json()["cancelled"]) == set(ids) for answer in answers)
    versions = await api.rows("SELECT version FROM api.messages WHERE project_id = $1", UUID(account.project_id))
    assert {row["version"] for row in versions} == {2}


BAD_BODIES: list[Any] = [
    {"messageIds": [str(uuid4()) for _ in range(101)]},
    {"messageIds": []},
    {"messageIds": [""]},
    {"messageIds": [7]},
    {"messageIds": ["x" * 201]},
    {"messageIds": "x"},
    {"messageIds": None},
    {},
    [],
    None,
]


@pytest.mark.parametrize("body", BAD_BODIES)
async def test_a_bad_request_is_refused(api: RunningApi, body: Any) -> None:
    account = await api.account()
    headers = {"x-api-key": account.key}
    answer = await api.client.request("DELETE", "/v1/messages/cancel", json=body, headers=headers)
    assert code_of(answer) == (400, "VALIDATION_FAILED")
    without = await api.client.request("DELETE", "/v1/messages/cancel", headers=headers)
    assert without.status_code == 400


async def test_ids_that_no_database_holds_are_not_found(api: RunningApi) -> None:
    account = await api.account()
    for odd in ("' OR 1=1", "é", "%2e", "a\tb", "\u200b"):
        answer = (await cancel(api, account.key, odd)).json()
        assert answer == {"cancelled": [], "failed": [{"id": odd, "reason": "NOT_FOUND"}]}
    headers = {"x-api-key": account.key, "content-type": "application/json"}
    for content in (b'{"messageIds": ["\\ud800"]}', b'{"messageIds": ["a\\u0000"]}'):
        answer = await api.client.request("DELETE", "/v1/messages/cancel", content=content, headers=headers)
        assert answer.status_code == 400, answer.text


async def test_a_tenant_key_cannot_cancel(api: RunningApi) -> None:
    account = await api.account()
    issued = await api.operator("keys", projectId=account.project_id, environment="TEST", name="all", scope="tenant")
    headers = {"x-api-key": issued["key"]}
    for ids in (["x"], []):
        body = {"messageIds": ids}
        answer = await api.client.request("DELETE", "/v1/messages/cancel", json=body, headers=headers)
        assert code_of(answer) == (403, "TENANT_SCOPE_NOT_ALLOWED")
    assert code_of(await cancel(api, "ps_test_nobody", "x")) == (401, "API_KEY_INVALID")


async def test_a_silent_dispatcher_is_said_so_and_never_hangs(api: RunningApi) -> None:
    account = await api.account()
    [waiting] = await store(api, account, status="QUEUED")
    [read] = await store(api, account, status="READ")
    started = time.monotonic()
    answer = await cancel(api, account.key, waiting)
    assert code_of(answer) == (503, "OWNER_UNAVAILABLE")
    assert answer.headers["retry-after"]
    mixed = await cancel(api, account.key, waiting, read)
    assert mixed.status_code == 200
    assert {failure["id"]: failure["reason"] for failure in mixed.json()["failed"]} == {
        waiting: "OWNER_UNAVAILABLE",
        read: "NOT_CANCELABLE",
    }
    assert time.monotonic() - started < 15
    assert (await api.get(account.key, f"messages/{waiting}")).json()["status"] == "QUEUED"


async def test_it_is_served_under_both_prefixes(api: RunningApi, dispatching: Dispatching) -> None:
    account: Account = await api.account()
    message_id, _ = await accepted(api, account, deliverAt=in_an_hour())
    body, headers = {"messageIds": [message_id]}, {"x-api-key": account.key}
    answer = await api.client.request("DELETE", "/api/v1/messages/cancel", json=body, headers=headers)
    assert answer.json()["cancelled"] == [message_id]
