"""What operators do with messages of all tenants: find one, see what is overdue, explain it, cancel it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from chassis.testing.template_database import TestDatabase
from chassis.testing.virtual_host import VirtualHost

from .answering import Dispatching, answering
from .running import DESTINATION, OPERATOR_KEY, RunningApi, code_of
from .stored import store
from .test_read import accepted

LONG_AGO = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
async def dispatching(api: RunningApi, api_database: TestDatabase, vhost: VirtualHost) -> AsyncIterator[Dispatching]:
    async with answering(api_database.url("dispatcher"), vhost.url) as dispatcher:
        yield dispatcher


async def ask(api: RunningApi, path: str, method: str = "GET", **params: Any) -> httpx.Response:
    headers = {"x-operator-key": OPERATOR_KEY}
    return await api.client.request(method, f"/v1/admin/messages/{path}", params=params, headers=headers)


async def test_a_message_is_found_by_each_of_its_names_without_anything_personal(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account, text="nobody else's business")
    await api.rows("UPDATE api.messages SET external_id = $2 WHERE id = $1", UUID(message_id), f"3EB0{message_id}")
    for name in (message_id, ref.correlation_id, f"3EB0{message_id}"):
        answer = await ask(api, name)
        assert answer.status_code == 200, answer.text
        assert "business" not in answer.text
        assert DESTINATION[1:] not in answer.text
        body = answer.json()
        assert (body["id"], body["tenantId"], body["status"]) == (message_id, account.tenant_id, "QUEUED")
        assert (body["projectId"], body["instance"], body["round"]) == (account.project_id, ref.instance, 1)


async def test_a_name_two_tenants_chose_means_the_newest(api: RunningApi) -> None:
    name = f"order/{uuid4()}"
    for _ in range(2):
        newest, _ = await accepted(api, await api.account())
        await api.rows("UPDATE api.messages SET correlation_id = $2 WHERE id = $1", UUID(newest), name)
    assert (await ask(api, name)).json()["id"] == newest
    assert (await ask(api, f"{name}/timeline")).json()["id"] == newest


@pytest.mark.parametrize("name", [str(uuid4()), "nope", "nope/timeline"])
async def test_what_nobody_has_is_not_found(api: RunningApi, name: str) -> None:
    assert code_of(await ask(api, name)) == (404, "MESSAGE_NOT_FOUND")


async def test_the_timeline_is_the_customers_and_says_whose_it_is(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    told = (await api.get(account.key, f"messages/{message_id}/timeline")).json()
    shown = (await ask(api, f"{message_id}/timeline")).json()
    assert shown == {**shown, **told}
    assert (shown["tenantId"], shown["waitingFor"]["code"]) == (account.tenant_id, "DISPATCHER")


async def test_overdue_messages_come_oldest_first_page_by_page(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    fresh, _ = await accepted(api, account)
    await store(api, account, 3, status="QUEUED", start=LONG_AGO)
    await store(api, account, status="READ", start=LONG_AGO)
    await store(api, account, status="FAILED", start=LONG_AGO)
    await store(api, other, status="QUEUED", start=LONG_AGO)
    mine = {"tenantId": account.tenant_id}
    first = (await ask(api, "waiting", limit=2, **mine)).json()
    rest = (await ask(api, "waiting", limit=2, cursor=first["nextCursor"], **mine)).json()
    ids = [message["id"] for message in (*first["items"], *rest["items"])]
    assert len(first["items"]) == 2
    assert rest["nextCursor"] is None
    assert ids == sorted(ids)
    assert len(ids) == 3
    assert fresh not in ids
    at_once = (await ask(api, "waiting", overdueSeconds=0, **mine)).json()["items"]
    assert fresh in [message["id"] for message in at_once]
    ages = (await ask(api, "waiting", overdueSeconds=int(timedelta(days=300).total_seconds()), **mine)).json()
    assert [message["id"] for message in ages["items"]] == ids


async def test_overdue_messages_of_a_number_and_of_a_project(api: RunningApi) -> None:
    account, number_id = await api.account(), uuid4()
    [one] = await store(api, account, status="QUEUED", start=LONG_AGO, number_id=number_id)
    await store(api, account, status="QUEUED", start=LONG_AGO)
    by_number = (await ask(api, "waiting", numberId=str(number_id))).json()["items"]
    by_project = (await ask(api, "waiting", projectId=account.project_id)).json()["items"]
    assert [message["id"] for message in by_number] == [one]
    assert len(by_project) == 2
    assert code_of(await ask(api, "waiting", overdueSeconds=-1)) == (400, "VALIDATION_FAILED")


async def test_canceling_is_the_dispatchers_decision_and_logged(api: RunningApi, dispatching: Dispatching) -> None:
    account = await api.account()
    message_id, _ = await accepted(api, account)
    answer = await ask(api, f"{message_id}/cancel", "POST")
    assert answer.json() == {"id": message_id, "status": "CANCELED"}
    assert (await ask(api, message_id)).json()["status"] == "CANCELED"
    request_id = answer.headers["x-request-id"]
    [entry] = await api.rows("SELECT action FROM api.audit_entries WHERE request_id = $1", request_id)
    assert entry["action"] == "message.cancel"
    again = await ask(api, f"{message_id}/cancel", "POST")
    assert code_of(again) == (409, "MESSAGE_NOT_CANCELABLE")
    request_id = again.headers["x-request-id"]
    assert await api.rows("SELECT 1 FROM api.audit_entries WHERE request_id = $1", request_id) == []


async def test_what_is_being_sent_is_not_canceled(api: RunningApi, dispatching: Dispatching) -> None:
    message_id, ref = await accepted(api, await api.account())
    await dispatching.claim(ref.message_id)
    assert code_of(await ask(api, f"{message_id}/cancel", "POST")) == (409, "MESSAGE_NOT_CANCELABLE")
    assert (await ask(api, message_id)).json()["status"] == "QUEUED"


async def test_a_silent_dispatcher_cancels_nothing(api: RunningApi) -> None:
    message_id, _ = await accepted(api, await api.account())
    assert code_of(await ask(api, f"{message_id}/cancel", "POST")) == (503, "OWNER_UNAVAILABLE")
    assert (await ask(api, message_id)).json()["status"] == "QUEUED"
    assert code_of(await ask(api, f"{uuid4()}/cancel", "POST")) == (404, "MESSAGE_NOT_FOUND")


async def test_a_number_is_asked_about_at_its_gateway(api: RunningApi) -> None:
    headers = {"x-operator-key": OPERATOR_KEY}
    number = await api.number()
    silent = await api.client.get(f"/v1/admin/numbers/{number['id']}/status", headers=headers)
    assert silent.status_code == 200, "no gateway at its address: that is an answer"
    shown = {"id": number["id"], "state": "CONNECTING", "stale": True, "lastKnownAt": None}
    assert silent.json() == shown
    nobody = await api.client.get(f"/v1/admin/numbers/{uuid4()}/status", headers=headers)
    assert code_of(nobody) == (404, "NUMBER_NOT_FOUND")
