"""GET /v1/messages: newest first, page after page, filtered, and never slower for what lies beneath."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.dialects.postgresql import asyncpg

from api.messages.domain.cursors import Position
from api.messages.domain.instants import Period
from api.messages.domain.listing import Filters
from api.messages.domain.scope import Scope
from api.messages.store.listing import CONTENT_BYTES_MAX, newest
from api.messages.store.reading import one
from chassis.seal import Pepper
from contracts.matching import RECIPIENT_PURPOSE
from contracts.status import Status
from gateways.recipients import recipient_key

from .running import SEAL_PEPPER, RunningApi, code_of
from .stored import START, store
from .test_read import accepted


async def ids(api: RunningApi, key: str, query: str = "") -> list[str]:
    answer = await api.get(key, f"messages?limit=100&{query}")
    assert answer.status_code == 200, answer.text
    return [message["id"] for message in answer.json()["messages"]]


async def walk(api: RunningApi, key: str, query: str = "", *, limit: int) -> list[list[str]]:
    """Every page, by following the cursor."""
    pages: list[list[str]] = []
    cursor = ""
    while len(pages) < 20:
        body = (await api.get(key, f"messages?limit={limit}&{query}{cursor}")).json()
        pages.append([message["id"] for message in body["messages"]])
        assert body["hasMore"] is (body["nextCursor"] is not None)
        if body["nextCursor"] is None:
            return pages
        cursor = f"&cursor={body['nextCursor']}"
    raise AssertionError("the pages do not end")


async def test_a_message_is_listed_as_it_is_read(api: RunningApi) -> None:
    account = await api.account()
    first, _ = await accepted(api, account)
    second, _ = await accepted(api, account, labels=["vip"])
    listed = (await api.get(account.key, "messages")).json()
    assert [message["id"] for message in listed["messages"]] == [second, first]
    assert (listed["nextCursor"], listed["hasMore"]) == (None, False)
    for message in listed["messages"]:
        assert message == (await api.get(account.key, f"messages/{message['id']}")).json()
    assert listed["messages"][0]["destinationNumber"].startswith("+55")
    assert listed["messages"][0]["labels"] == ["vip"]


async def test_pages_hold_every_message_once_newest_first(api: RunningApi) -> None:
    account = await api.account()
    stored = await store(api, account, 25)
    same_instant = [message for _ in range(5) for message in await store(api, account, start=START)]
    pages = await walk(api, account.key, limit=7)
    assert [len(page) for page in pages] == [7, 7, 7, 7, 2]
    flat = [message for page in pages for message in page]
    assert len(flat) == len(set(flat)) == 30
    assert flat[:24] == stored[:0:-1]
    assert set(flat[24:]) == {stored[0], *same_instant}
    assert await walk(api, account.key, limit=30) == [flat]
    assert await walk(api, account.key, limit=100) == [flat]


async def test_what_arrives_meanwhile_does_not_shift_pages(api: RunningApi) -> None:
    account = await api.account()
    stored = await store(api, account, 10)
    first = (await api.get(account.key, "messages?limit=5")).json()
    await store(api, account, 3, start=START + timedelta(days=1))
    second = (await api.get(account.key, f"messages?limit=5&cursor={first['nextCursor']}")).json()
    seen = [message["id"] for page in (first, second) for message in page["messages"]]
    assert seen == stored[::-1]


async def test_every_filter_filters(api: RunningApi) -> None:
    account = await api.account(environment="LIVE", approved=True)
    pepper, number_id = Pepper.parse(SEAL_PEPPER), uuid4()
    somebody = pepper.hash(recipient_key("5547991234567"), purpose=RECIPIENT_PURPOSE)
    plain = await store(api, account, environment="LIVE")
    failed = await store(api, account, status="FAILED", environment="LIVE")
    canceled = await store(api, account, status="CANCELED", environment="LIVE")
    queued = await store(api, account, status="QUEUED", environment="LIVE")
    otp = await store(api, account, category="OTP", environment="LIVE")
    test = await store(api, account, environment="TEST")
    late = await store(api, account, environment="LIVE", start=START + timedelta(days=1))
    labeled = await store(api, account, labels=["a", "vip"], environment="LIVE")
    templated = await store(api, account, template="hello", environment="LIVE")
    addressed = await store(api, account, recipient_hash=somebody, environment="LIVE")
    numbered = await store(api, account, number_id=number_id, environment="LIVE")
    everything = {*plain, *failed, *canceled, *queued, *otp, *test, *late, *labeled, *templated, *addressed, *numbered}
    assert set(await ids(api, account.key)) == everything
    for query, expected in {
        "status=FAILED": failed,
        "status=CANCELED": canceled,
        "status=QUEUED": queued,
        "status=FAILED&status=CANCELED": [*failed, *canceled],
        "status=QUEUED&status=FAILED": [*queued, *failed],
        "category=OTP": otp,
        "environment=TEST": test,
        "from=2026-01-06": late,
        "from=2026-01-06T12:00:01Z": late,
        "from=2026-01-06T12:00:01.000001Z": [],
        "label=vip": labeled,
        "label=vi": [],
        "template=hello": templated,
        "destination=%2B5547991234567": addressed,
        "destination=+55 (47) 99123-4567": addressed,
        "destination=%2B554791234567": addressed,
        f"number={number_id}": numbered,
        f"number={number_id}&status=FAILED": [],
    }.items():
        assert set(await ids(api, account.key, query)) == set(expected), query
    assert set(await ids(api, account.key, "to=2026-01-05")) == everything - set(late)


async def test_a_key_sees_no_more_than_its_own(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    own_number = await api.number()
    mine = await store(api, account)
    live = await store(api, account, environment="LIVE")
    numbered = await store(api, account, number_id=UUID(own_number["id"]), start=START + timedelta(hours=1))
    await store(api, other, 3)
    assert set(await ids(api, account.key)) == {*mine, *numbered}, "a TEST key sees no LIVE messages"
    live_key = await api.key(account.project_id, environment="LIVE")
    assert set(await ids(api, live_key)) == {*mine, *numbered, *live}
    bound = await api.key(account.project_id, number_id=own_number["id"])
    assert await ids(api, bound) == numbered
    assert code_of(await api.get(bound, f"messages/{mine[0]}")) == (404, "MESSAGE_NOT_FOUND")
    assert code_of(await api.get(account.key, f"messages/{live[0]}")) == (404, "MESSAGE_NOT_FOUND")


async def test_a_tenant_key_names_the_number(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    number = await api.number(tenantId=account.tenant_id)
    foreign = await api.number(tenantId=other.tenant_id)
    tenant = (await api.operator("keys", projectId=account.project_id, environment="LIVE", name="all", scope="tenant"))[
        "key"
    ]
    [message_id] = await store(api, account, number_id=UUID(number["id"]))
    await store(api, account)
    for path in ("messages", f"messages/{message_id}", f"messages/{message_id}/timeline", "messages/history"):
        headers = {"x-api-key": tenant}
        assert code_of(await api.client.get(f"/v1/{path}", headers=headers)) == (403, "TENANT_SCOPE_NOT_ALLOWED")
        named = headers | {"x-whatsapp-number-id": number["id"]}
        assert (await api.client.get(f"/v1/{path}", headers=named)).status_code == 200
        for strange in (foreign["id"], str(uuid4()), "x"):
            named = headers | {"x-whatsapp-number-id": strange}
            assert code_of(await api.client.get(f"/v1/{path}", headers=named)) == (404, "NUMBER_NOT_FOUND")
    named = {"x-api-key": tenant, "x-whatsapp-number-id": number["id"]}
    listed = (await api.client.get("/v1/messages", headers=named)).json()
    assert [message["id"] for message in listed["messages"]] == [message_id]


async def test_a_cursor_works_for_its_own_listing_alone(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    await store(api, account, 5, status="FAILED")
    await store(api, other, 5, status="FAILED")
    cursor = (await api.get(account.key, "messages?limit=2&status=FAILED")).json()["nextCursor"]
    assert (await api.get(account.key, f"messages?limit=3&status=FAILED&cursor={cursor}")).status_code == 200
    for key, query in (
        (account.key, f"cursor={cursor}"),
        (account.key, f"status=FAILED&status=READ&cursor={cursor}"),
        (account.key, f"status=FAILED&category=OTP&cursor={cursor}"),
        (other.key, f"status=FAILED&cursor={cursor}"),
        (account.key, f"status=FAILED&cursor={cursor[:-1]}"),
        (account.key, f"status=FAILED&cursor={'A' * len(cursor)}"),
        (account.key, "cursor=%C3%A9"),
    ):
        assert code_of(await api.get(key, f"messages?{query}")) == (400, "CURSOR_INVALID"), query


async def test_a_page_of_large_files_is_shorter_and_goes_on(api: RunningApi) -> None:
    account = await api.account()
    stored = await store(api, account, 20)
    size = CONTENT_BYTES_MAX // 8
    await api.rows(
        "UPDATE api.messages SET sealed = repeat('x', $2) WHERE project_id = $1", UUID(account.project_id), size
    )
    pages = await walk(api, account.key, limit=15)
    assert [len(page) for page in pages] == [8, 8, 4]
    assert [message for page in pages for message in page] == stored[::-1]


async def test_what_was_searched_for_is_in_no_log(api: RunningApi) -> None:
    account = await api.account()
    assert await ids(api, account.key, "destination=%2B5547987650123") == []
    assert code_of(await api.get(account.key, "messages?destination=47987650123x")) == (400, "DESTINATION_INVALID")
    assert "987650123" not in api.log()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("status=SCHEDULED", "VALIDATION_FAILED"),
        ("category=X", "VALIDATION_FAILED"),
        ("environment=PROD", "VALIDATION_FAILED"),
        ("limit=0", "VALIDATION_FAILED"),
        ("limit=101", "VALIDATION_FAILED"),
        ("limit=x", "VALIDATION_FAILED"),
        ("number=x", "VALIDATION_FAILED"),
        ("cursor=", "VALIDATION_FAILED"),
        ("label=", "VALIDATION_FAILED"),
        ("label=a%0Ab", "VALIDATION_FAILED"),
        ("template=a%7Fb", "VALIDATION_FAILED"),
        (f"cursor={'x' * 200}", "VALIDATION_FAILED"),
        ("from=yesterday", "INVALID_DATE_RANGE"),
        ("from=2026-02-01&to=2026-01-01", "INVALID_DATE_RANGE"),
        ("destination=abc", "DESTINATION_INVALID"),
        ("destination=%01", "DESTINATION_INVALID"),
    ],
)
async def test_a_bad_query_is_refused_by_name(api: RunningApi, query: str, code: str) -> None:
    account = await api.account()
    answer = await api.get(account.key, f"messages?{query}")
    assert code_of(answer) == (400, code)
    assert answer.json()["details"][0]["field"].split(".")[0] == query.split("=")[0]


def explained(statement: Any) -> str:
    dialect: Any = asyncpg.dialect
    compiled = statement.compile(dialect=dialect(), compile_kwargs={"literal_binds": True})
    return f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {compiled}"


def touched(plan: Any) -> int:
    """Rows that were read or thrown away anywhere in the plan."""
    own = (plan.get("Actual Rows", 0) + plan.get("Rows Removed by Filter", 0)) * plan.get("Actual Loops", 1)
    return int(own) + sum(touched(child) for child in plan.get("Plans", []))


def nodes(plan: Any) -> Sequence[str]:
    return [plan["Node Type"], *(node for child in plan.get("Plans", []) for node in nodes(child))]


async def test_a_page_costs_the_same_above_fifty_thousand_messages(api: RunningApi) -> None:
    account = await api.account()
    crowd = await api.account()
    await store(api, crowd, 30_000)
    await store(api, account, 5, status="FAILED", start=START - timedelta(days=30))
    await store(api, account, 5, status="CANCELED", start=START - timedelta(days=29))
    await store(api, account, 5, status="QUEUED", start=START - timedelta(days=28))
    await store(api, account, 5, recipient_hash="rare", start=START - timedelta(days=27))
    quiet = uuid4()
    await store(api, account, 5, number_id=quiet, start=START - timedelta(days=26))
    await store(api, account, 50_000)
    await api.rows("ANALYZE api.messages")
    scope = Scope(
        tenant_id=UUID(account.tenant_id), project_id=UUID(account.project_id), number_id=None, environment=None
    )
    deep = Position(accepted_at=START + timedelta(seconds=25_000), message_id=uuid4())
    week = Period(start=START + timedelta(seconds=100), end=START + timedelta(seconds=45_000))
    cases: list[tuple[Filters, Position | None]] = [
        (Filters(), None),
        (Filters(), deep),
        (Filters(accepted=week), None),
        (Filters(accepted=week), deep),
        (Filters(statuses=frozenset({Status.FAILED})), None),
        (Filters(statuses=frozenset({Status.FAILED, Status.CANCELED})), deep),
        (Filters(statuses=frozenset({Status.CANCELED})), None),
        (Filters(statuses=frozenset({Status.QUEUED})), None),
        (Filters(recipient_hash="rare"), None),
        (Filters(statuses=frozenset({Status.READ})), deep),
    ]
    for filters, after in cases:
        [row] = await api.rows(explained(newest(scope, filters, after=after, limit=31)))
        plan = json.loads(row[0])[0]["Plan"]
        assert touched(plan) <= 200, (filters, after, plan)
        assert not {"Seq Scan", "Sort", "Incremental Sort"} & set(nodes(plan)), (filters, after, plan)
    of_number = replace(scope, number_id=quiet)
    for number_scope in (of_number, replace(of_number, project_id=None)):  # its own key, and a tenant's that names it
        [row] = await api.rows(explained(newest(number_scope, Filters(), after=None, limit=31)))
        plan = json.loads(row[0])[0]["Plan"]
        assert touched(plan) <= 200, (number_scope, plan)
        assert not {"Seq Scan", "Sort", "Incremental Sort"} & set(nodes(plan)), (number_scope, plan)
    for reference, message_id in ((str(uuid4()), uuid4()), ("3EB0NONE", None)):
        [row] = await api.rows(explained(one(scope, reference=reference, message_id=message_id)))
        plan = json.loads(row[0])[0]["Plan"]
        assert touched(plan) <= 20, plan
        assert "Seq Scan" not in nodes(plan), plan
    for query in ("", "status=FAILED", "status=QUEUED", "from=2026-01-05&to=2026-01-06"):
        started = datetime.now()  # noqa: DTZ005 a duration, not an instant
        assert await ids(api, account.key, query)
        assert datetime.now() - started < timedelta(seconds=2), query  # noqa: DTZ005
