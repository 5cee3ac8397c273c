"""A later status of a message never reaches an endpoint before an earlier one is over, whoever sends and whenever."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from contracts.facts import MessageStatusChanged
from contracts.ids import uuid7
from contracts.questions import RotateSecret
from contracts.status import Status

STEPS = ((Status.QUEUED, Status.SENT, 3), (Status.SENT, Status.DELIVERED, 4), (Status.DELIVERED, Status.READ, 5))


def life(rig: Any, message_id: UUID | None = None) -> list[MessageStatusChanged]:
    """All news of one message, in order."""
    known = message_id or uuid7()
    return [rig.fact(status, previous=before, version=version, message_id=known) for before, status, version in STEPS]


def versions(received: Sequence[Any]) -> dict[str, list[int]]:
    """Of each message the versions in the order in which they came."""
    found: dict[str, list[int]] = defaultdict(list)
    for request in received:
        data = json.loads(request.body)["data"]
        found[data["id"]].append(data["version"])
    return found


async def later(rig: Any) -> datetime:
    """When all is due."""
    [row] = await rig.rows("SELECT max(due_at) AS due_at FROM notifier.deliveries WHERE state = 'PENDING'")
    return max(row.due_at or datetime.now(UTC), datetime.now(UTC)) + timedelta(milliseconds=1)


async def test_later_news_waits_until_earlier_news_is_over(build: Any, customer: Any) -> None:
    """Under way, failed and waiting for a retry, given up: only then its turn comes."""
    rig = await build(pauses=(60.0,))
    await rig.endpoint(customer.url())
    await rig.hear(*life(rig))
    [first] = await rig.deliver.claim(10)
    assert await rig.deliver.claim(10) == [], "the first is under way"
    customer.replies["/hook"] = [customer.reply(status=500)]
    await rig.deliver.carry_out(first)
    assert await rig.deliver.claim(10) == [], "the first waits for its retry"
    assert await rig.work_off(now=await later(rig)) == 1
    states = await rig.rows("SELECT state FROM notifier.deliveries ORDER BY version")
    assert [row.state for row in states] == ["EXHAUSTED", "PENDING", "PENDING"]
    customer.replies["/hook"] = [customer.reply()]
    while await rig.work_off(now=await later(rig)):
        pass
    assert list(versions(customer.received).values()) == [[3, 3, 4, 5]], "what is given up holds up nothing"


async def test_other_messages_do_not_wait(build: Any, customer: Any) -> None:
    rig = await build(pauses=(3_600.0,) * 3)
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply()]
    await rig.endpoint(customer.url())
    await rig.hear(*life(rig))
    assert await rig.work_off() == 1
    await rig.hear(*life(rig))
    assert [await rig.work_off() for _ in range(4)] == [1, 1, 1, 0]


async def test_news_that_comes_before_earlier_news_waits_for_it_a_moment(build: Any, customer: Any) -> None:
    """Two replicas hear of one message at once, and the later news is written down first."""
    one, two = await build(), await build()
    await one.endpoint(customer.url())
    sent, delivered, _ = life(one)
    await two.hear(delivered)
    assert await two.deliver.claim(10) == []
    await one.hear(sent)
    assert await one.work_off() == 1
    assert await two.work_off(now=await later(two)) == 1
    assert list(versions(customer.received).values()) == [[3, 4]]


async def test_news_whose_earlier_news_was_not_asked_for_waits_for_nothing(build: Any, customer: Any) -> None:
    rig = await build()
    await rig.endpoint(customer.url(), "message.delivered")
    await rig.hear(life(rig)[1])
    assert await rig.work_off() == 1


@pytest.mark.parametrize("replies", ["well", "badly"])
async def test_two_replicas_retries_and_a_rotation_keep_the_order(
    build: Any, customer: Any, wait_until: Any, replies: str
) -> None:
    replicas = [await build(pauses=(0.02,) * 20, failing_after=1_000) for _ in range(2)]
    rig = replicas[0]
    bad = [customer.reply(status=status) for status in (503, 500, 200, 429, 200)] * 10
    customer.replies["/hook"] = [*bad, customer.reply()] if replies == "badly" else [customer.reply()]
    endpoint_id, _ = await rig.endpoint(customer.url())
    lives = [life(rig) for _ in range(20)]
    for replica in replicas:
        await replica.run()
    for step in range(3):
        await asyncio.gather(*(replicas[place % 2].hear(news[step]) for place, news in enumerate(lives)))
        await rig.manage.rotate(RotateSecret(tenant_id=rig.tenant_id, endpoint_id=endpoint_id))

    async def is_over() -> bool:
        return list(await rig.states()).count("DELIVERED") == 60

    await wait_until(is_over, "all delivered")
    came = versions(customer.received)
    assert len(came) == 20
    assert all(order == sorted(order) and set(order) == {3, 4, 5} for order in came.values())


async def test_a_claim_finds_what_is_free_behind_much_that_waits(build: Any, customer: Any) -> None:
    """News of many messages whose earlier news waits for a retry moves behind it instead of standing in the way."""
    rig = await build(pauses=(3_600.0,) * 3, per_endpoint=10)
    await rig.endpoint(customer.url())
    customer.replies["/hook"] = [customer.reply(status=500)]
    lives = [life(rig) for _ in range(60)]
    await rig.hear(*(news[0] for news in lives))
    while await rig.work_off():
        pass
    await rig.rows("UPDATE notifier.endpoints SET failures = 0 RETURNING 1")
    await rig.hear(*(fact for news in lives for fact in news[1:]), rig.fact())
    customer.replies["/hook"] = [customer.reply()]
    for _ in range(5):
        await rig.work_off()
    assert list(await rig.states()).count("DELIVERED") == 1
    [row] = await rig.rows("SELECT count(*) AS n FROM notifier.deliveries WHERE state = 'PENDING' AND due_at <= now()")
    assert row.n == 0, "nothing that cannot be sent stands at the head"
