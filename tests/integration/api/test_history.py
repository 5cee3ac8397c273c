"""GET /v1/messages/history: the thread of a number, as the official SDK pages through it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from contracts.facts import MessageDispatched
from contracts.facts.messages import Proof

from .running import Account, RunningApi, code_of, soon
from .stored import START, store
from .test_read import accepted, becomes


async def own(api: RunningApi) -> tuple[Account, UUID]:
    """An account with a key of its own number."""
    account = await api.account()
    number = await api.number(tenantId=account.tenant_id)
    key = await api.key(account.project_id, number_id=number["id"])
    return Account(tenant_id=account.tenant_id, project_id=account.project_id, key=key), UUID(number["id"])


async def history(api: RunningApi, key: str, query: str = "") -> dict[str, Any]:
    answer = await api.get(key, f"messages/history?{query}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_row_tells_what_was_said_to_whom(api: RunningApi) -> None:
    account = await api.account()
    message_id, ref = await accepted(api, account, text="Olá, Ana")
    assert (await history(api, account.key))["messages"] == [], "nothing was said on WhatsApp yet"
    at = datetime(2026, 1, 5, 12, tzinfo=UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id="3EB0H", dispatched_at=at, proof=Proof.RESPONSE))
    await becomes(api, account, message_id, "DISPATCHED")
    page = await history(api, account.key)
    assert {name: page[name] for name in page if name != "messages"} == {
        "total": 1, "page": 1, "pageSize": 30, "totalPages": 1,
    }  # fmt: skip
    [row] = page["messages"]
    details = (await api.get(account.key, f"messages/{message_id}")).json()
    assert (row["id"], row["text"], row["participantPhone"]) == (message_id, "Olá, Ana", details["destinationNumber"])
    assert (row["direction"], row["providerKind"], row["origin"]) == ("OUTBOUND", "PILOT_STATUS", "API")
    assert (row["messageType"], row["externalMessageId"], row["media"]) == ("text", "3EB0H", None)
    assert row["providerTimestamp"] == "2026-01-05T12:00:00.000Z"
    assert "redacted" not in row


async def test_pages_count_and_are_newest_first(api: RunningApi) -> None:
    account, number_id = await own(api)
    stored = await store(api, account, 7, number_id=number_id)
    await store(api, account, 3, status="QUEUED", number_id=number_id)
    await store(api, account, 3)
    pages = [await history(api, account.key, f"page={page}&pageSize=3") for page in (1, 2, 3, 4)]
    assert [[row["id"] for row in page["messages"]] for page in pages] == [
        stored[6:3:-1], stored[3:0:-1], stored[:1], [],
    ]  # fmt: skip
    assert {(page["total"], page["totalPages"], page["pageSize"]) for page in pages} == {(7, 3, 3)}
    assert [page["page"] for page in pages] == [1, 2, 3, 4]
    assert all(row["redacted"] is True and row["text"] is None for page in pages for row in page["messages"])


async def test_bounds_are_inclusive_and_checked(api: RunningApi) -> None:
    account, number_id = await own(api)
    stored = await store(api, account, 5, number_id=number_id)

    async def between(start: str, end: str) -> list[str]:
        found = (await history(api, account.key, f"startDate={start}&endDate={end}"))["messages"]
        return [row["id"] for row in found]

    assert await between("2026-01-05T12:00:02Z", "2026-01-05T12:00:04Z") == stored[3:0:-1]
    assert len(await between("2026-01-05", "2026-01-05")) == 5
    assert await between("2026-01-06", "2026-01-07") == []
    for query in (
        "startDate=2026-01-06&endDate=2026-01-05",
        "startDate=nonsense",
        "endDate=2026-01-05T12:00:00",
        "startDate=",
    ):
        answer = await api.get(account.key, f"messages/history?{query}")
        assert code_of(answer) == (400, "INVALID_DATE_RANGE"), query


@pytest.mark.parametrize("query", ["page=0", "page=x", "pageSize=0", "pageSize=101", "page=99999999999999999999"])
async def test_a_bad_page_is_refused(api: RunningApi, query: str) -> None:
    account = await api.account()
    assert code_of(await api.get(account.key, f"messages/history?{query}")) == (400, "VALIDATION_FAILED")
    assert (await history(api, account.key, "page=100000&pageSize=100"))["messages"] == []


async def test_what_the_number_does_not_keep_is_not_shown(api: RunningApi) -> None:
    account, number_id = await own(api)
    now = datetime.now(UTC)
    await store(api, account, number_id=number_id, start=now - timedelta(days=10))
    [recent] = await store(api, account, number_id=number_id, start=now - timedelta(days=2))
    query = "UPDATE api.numbers SET pii_mode = $2, pii_retention_days = $3 WHERE id = $1"

    async def shows(expected: list[str], notice: str | None) -> bool:
        page = await history(api, account.key)
        return [row["id"] for row in page["messages"]] == expected and page.get("notice") == notice

    await api.rows(query, number_id, "STORE_X_DAYS", 5)
    await soon(lambda: shows([recent], None), "only five days")
    await api.rows(query, number_id, "RELAY_ONLY", None)
    await soon(lambda: shows([], "PII_RELAY_ONLY"), "nothing, and a notice")
    assert (await history(api, account.key))["total"] == 0


async def test_two_projects_on_the_default_number_do_not_see_each_other(api: RunningApi) -> None:
    account, other = await api.account(), await api.account()
    message_id, ref = await accepted(api, account)
    now = datetime.now(UTC)
    await api.say(MessageDispatched(ref=ref, attempt=1, key_id="3EB0Y", dispatched_at=now, proof=Proof.RESPONSE))
    await becomes(api, account, message_id, "DISPATCHED")
    assert (await history(api, account.key))["total"] == 1
    assert (await history(api, other.key))["total"] == 0


async def test_the_fixed_paths_win_over_the_path_that_takes_anything(api: RunningApi) -> None:
    account = await api.account()
    assert "messages" in await history(api, account.key)
    assert "nextCursor" in (await api.get(account.key, "messages")).json()
    opted = await api.get(account.key, "messages/opt-in?destinationNumber=%2B5547991000000")
    assert opted.json().get("code") != "MESSAGE_NOT_FOUND"


async def test_a_page_of_fifty_thousand_reads_only_itself(api: RunningApi) -> None:
    account, number_id = await own(api)
    await store(api, account, 50_000, number_id=number_id, start=START)
    await api.rows("ANALYZE api.messages")
    page = await history(api, account.key, "page=3&pageSize=100")
    assert (page["total"], page["totalPages"], len(page["messages"])) == (50_000, 500, 100)
    [plan] = await api.rows(
        """
        EXPLAIN (FORMAT JSON) SELECT * FROM api.messages WHERE number_id = $1 AND dispatched_at IS NOT NULL
         ORDER BY dispatched_at DESC, id DESC OFFSET 200 LIMIT 100
        """,
        number_id,
    )
    assert "ix_messages_history" in plan[0]
    assert '"Sort"' not in plan[0]
