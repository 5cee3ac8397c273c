"""Limits are counted when a message is accepted, exactly, and given back when it never left."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from contracts.errors import ErrorCode
from contracts.facts import MessageDispatchCanceled, MessageDispatched, MessageDispatchFailed, ReceiptRecorded
from contracts.facts.messages import Proof
from contracts.ids import uuid7
from contracts.status import Status
from contracts.values import Category, ConnectionState, Environment, MessageRef

from .running import Account, RunningApi, at_once, code_of, soon

STRANGER = "+5547988887777"


async def live_account(api: RunningApi) -> tuple[Account, dict[str, Any]]:
    """An account with a LIVE key of its own number."""
    account = await api.account(environment="LIVE", approved=True)
    number = await api.number(state=ConnectionState.OPEN, tenantId=account.tenant_id)
    key = await api.key(account.project_id, environment="LIVE", number_id=number["id"])
    return Account(tenant_id=account.tenant_id, project_id=account.project_id, key=key), number


async def used(api: RunningApi, account: Account) -> dict[str, int]:
    rows = await api.rows("SELECT counter, used FROM api.usage WHERE tenant_id = $1", UUID(account.tenant_id))
    return {row["counter"]: row["used"] for row in rows}


async def count(api: RunningApi, account: Account) -> int:
    rows = await api.rows("SELECT 1 FROM api.messages WHERE project_id = $1", UUID(account.project_id))
    return len(rows)


async def test_of_twenty_parallel_sends_at_a_limit_of_ten_exactly_ten_are_accepted(api: RunningApi) -> None:
    account, _ = await live_account(api)
    await api.plan(account, liveMonthly=10)
    answers = await at_once(*(api.send(account.key, text=f"oi {n}") for n in range(20)))
    assert sorted(answer.status_code for answer in answers) == [202] * 10 + [429] * 10
    assert await count(api, account) == 10
    assert await used(api, account) == {"LIVE_MONTHLY": 10}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert code_of(refused) == (429, "LIVE_MONTHLY_LIMIT_EXCEEDED")
    limit = refused.json()["limit"]
    assert (limit["name"], limit["max"]) == ("LIVE_MONTHLY", 10)
    resets_at = datetime.fromisoformat(limit["resetsAt"])
    assert (resets_at.day, resets_at.hour, resets_at.minute) == (1, 0, 0)
    seconds = (resets_at - datetime.now(UTC)).total_seconds()
    assert abs(int(refused.headers["retry-after"]) - seconds) < 30
    assert refused.headers["ratelimit"].startswith('"live_monthly";r=0;t=')


async def test_every_answer_to_a_key_says_what_is_left_of_its_rate(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, requestsPerMinute=1_000)
    key = await api.key(account.project_id)

    def left(answer: httpx.Response) -> int:
        assert answer.headers["ratelimit-policy"] == '"requests";q=1000;w=60'
        name, remaining, resets = answer.headers["ratelimit"].split(";")
        assert name == '"requests"'
        assert 1 <= int(resets.removeprefix("t=")) <= 60
        return int(remaining.removeprefix("r="))

    broken = {"x-api-key": key, "content-type": "application/json"}
    answers = [
        await api.send(key),
        await api.send(key, text=" "),
        await api.client.post("/v1/messages/send", json={"text": 5}, headers={"x-api-key": key}),
        await api.client.post("/v1/messages/send", content=b"{", headers=broken),
        await api.client.get("/v1/messages", headers={"x-api-key": key}),
        await api.client.get("/v1/messages/nope", headers={"x-api-key": key}),
    ]
    assert [answer.status_code for answer in answers] == [202, 400, 400, 400, 200, 404]
    assert all(900 < left(answer) < 1_000 for answer in answers)
    unlimited = await api.send((await api.account()).key)
    stranger = await api.send("ps_test_nobody")
    assert [(answer.status_code, "ratelimit" in answer.headers) for answer in (unlimited, stranger)] == [
        (202, False),
        (401, False),
    ]


async def test_packages_add_to_the_month_while_they_run(api: RunningApi) -> None:
    account, _ = await live_account(api)
    now = datetime.now(UTC)
    running, over, to_come = (
        (now - timedelta(days=1), now + timedelta(days=1)),
        (now - timedelta(days=2), now - timedelta(days=1)),
        (now + timedelta(days=1), now + timedelta(days=2)),
    )
    stranger = await api.account()
    packages = ((account, running, 2), (account, over, 5), (account, to_come, 5), (stranger, running, 5))
    for owner, (starts_at, ends_at), messages in packages:
        await api.operator(
            "packages",
            tenantId=owner.tenant_id,
            messages=messages,
            startsAt=starts_at.isoformat(),
            endsAt=ends_at.isoformat(),
        )
    await api.plan(account, liveMonthly=1)
    codes = [(await api.send(account.key, text=f"oi {n}")).status_code for n in range(4)]
    assert codes == [202, 202, 202, 429]


async def test_the_free_plan_has_a_day_too_and_nothing_counts_half(api: RunningApi) -> None:
    account, _ = await live_account(api)
    await api.plan(account, liveMonthly=10, liveDaily=2)
    answers = [await api.send(account.key, text=f"oi {n}") for n in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert code_of(answers[2]) == (429, "LIVE_DAILY_LIMIT_EXCEEDED")
    assert await used(api, account) == {"LIVE_DAILY": 2, "LIVE_MONTHLY": 2}


async def test_test_messages_have_a_day_except_to_profiles(api: RunningApi) -> None:
    account = await api.account()
    await api.plan(account, testDaily=1, testAnyone=True)
    for _ in range(3):
        assert (await api.send(account.key)).status_code == 202
    assert await used(api, account) == {}
    assert (await api.send(account.key, destinationNumber=STRANGER)).status_code == 202
    refused = await api.send(account.key, destinationNumber=STRANGER)
    assert code_of(refused) == (429, "TEST_DAILY_LIMIT_EXCEEDED")
    assert (await api.send(account.key)).status_code == 202


async def test_test_and_live_are_counted_apart(api: RunningApi) -> None:
    account, number = await live_account(api)
    await api.plan(account, liveMonthly=1, testDaily=1)
    test_key = await api.key(account.project_id, number_id=number["id"])
    assert (await api.send(test_key)).status_code == 202
    assert (await api.send(account.key)).status_code == 202
    assert code_of(await api.send(account.key)) == (429, "LIVE_MONTHLY_LIMIT_EXCEEDED")


async def test_a_refused_send_counts_nothing(api: RunningApi) -> None:
    account, _ = await live_account(api)
    await api.plan(account, liveMonthly=1)
    assert code_of(await api.send(account.key, text=" "))[0] == 400
    assert code_of(await api.send(account.key, deliverAt="never"))[0] == 400
    assert (await api.send(account.key)).status_code == 202


async def test_two_tenants_in_one_commit_have_their_own_limits(api: RunningApi) -> None:
    (first, _), (second, _) = await live_account(api), await live_account(api)
    await api.plan(first, liveMonthly=3)
    await api.plan(second, liveMonthly=5)
    sends = [api.send(account.key, text=f"oi {n}") for n in range(8) for account in (first, second)]
    await at_once(*sends)
    assert (await count(api, first), await count(api, second)) == (3, 5)


def ref_of(account: Account, number: dict[str, Any], answer: dict[str, Any]) -> MessageRef:
    return MessageRef(
        message_id=UUID(answer["id"]),
        tenant_id=UUID(account.tenant_id),
        project_id=UUID(account.project_id),
        number_id=UUID(number["id"]),
        instance=number["instance"],
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id=answer["correlationId"],
    )


async def is_used(api: RunningApi, account: Account, amount: int) -> None:
    async def right() -> bool:
        return set((await used(api, account)).values()) == {amount}

    await soon(right, f"{amount} counted")


@pytest.mark.parametrize("how", ["failed", "canceled"])
async def test_what_never_left_is_given_back_once_and_leaves_room(api: RunningApi, how: str) -> None:
    account, number = await live_account(api)
    await api.plan(account, liveMonthly=1, liveDaily=1)
    sent = await api.send(account.key)
    assert code_of(await api.send(account.key))[0] == 429
    ref, now = ref_of(account, number, sent.json()), datetime.now(UTC)
    fact = (
        MessageDispatchFailed(ref=ref, attempt=1, error_code=ErrorCode.WHATSAPP_NOT_EXIST, detail="none", failed_at=now)
        if how == "failed"
        else MessageDispatchCanceled(ref=ref, canceled_at=now)
    )
    for _ in range(2):
        await api.say(fact)
    await is_used(api, account, 0)
    assert (await api.send(account.key)).status_code == 202
    assert code_of(await api.send(account.key))[0] == 429
    assert await used(api, account) == {"LIVE_DAILY": 1, "LIVE_MONTHLY": 1}


async def test_what_left_or_may_have_left_stays_counted(api: RunningApi) -> None:
    account, number = await live_account(api)
    await api.plan(account, liveMonthly=9)
    now = datetime.now(UTC)
    dispatched, unconfirmed, reported = [
        ref_of(account, number, (await api.send(account.key, text=f"oi {n}")).json()) for n in range(3)
    ]
    await api.say(
        MessageDispatched(ref=dispatched, attempt=1, key_id=f"K{uuid7()}", dispatched_at=now, proof=Proof.RESPONSE)
    )
    await api.say(
        MessageDispatchFailed(
            ref=unconfirmed, attempt=1, error_code=ErrorCode.UNCONFIRMED, detail="unknown", failed_at=now
        )
    )
    for ref in (dispatched, reported):
        await api.say(ReceiptRecorded(ref=ref, key_id=f"K{uuid7()}", status=Status.FAILED, occurred_at=now))

    async def all_failed() -> bool:
        rows = await api.rows(
            "SELECT 1 FROM api.messages WHERE project_id = $1 AND status = 'FAILED'", UUID(account.project_id)
        )
        return len(rows) == 3

    await soon(all_failed, "all three FAILED")
    assert await used(api, account) == {"LIVE_MONTHLY": 3}


async def test_what_left_after_all_is_counted_again(api: RunningApi) -> None:
    account, number = await live_account(api)
    await api.plan(account, liveMonthly=9)
    ref, now = ref_of(account, number, (await api.send(account.key)).json()), datetime.now(UTC)
    await api.say(
        MessageDispatchFailed(ref=ref, attempt=1, error_code=ErrorCode.MESSAGE_EXPIRED, detail="late", failed_at=now)
    )
    await is_used(api, account, 0)
    await api.say(ReceiptRecorded(ref=ref, key_id=f"K{uuid7()}", status=Status.DELIVERED, occurred_at=now))
    await is_used(api, account, 1)
    await api.say(ReceiptRecorded(ref=ref, key_id=f"K{uuid7()}", status=Status.READ, occurred_at=now))

    async def is_read() -> bool:
        rows = await api.rows("SELECT status FROM api.messages WHERE id = $1", ref.message_id)
        return bool(rows[0]["status"] == "READ")

    await soon(is_read, "READ")
    assert await used(api, account) == {"LIVE_MONTHLY": 1}
