"""A process may end at any instant: nothing is lost, and what is repeated can be recognised."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chassis.database import UnavailableError
from contracts.facts import WebhookDelivered

LATER = timedelta(minutes=5)


async def test_ended_between_call_and_settle_is_called_again_with_the_same_id(build: Any, customer: Any) -> None:
    crashing, surviving = await build(), await build()
    await crashing.endpoint(customer.url())
    await crashing.hear(crashing.fact())
    [claimed] = await crashing.deliver.claim(10)
    await crashing.deliver._post(claimed, now=datetime.now(UTC))  # and then the process is gone
    assert await surviving.deliver.take_back() == 0, "the lease still holds"
    assert await surviving.work_off(now=datetime.now(UTC) + LATER) == 0
    assert await surviving.deliver.take_back(now=datetime.now(UTC) + LATER) == 1
    assert await surviving.work_off(now=datetime.now(UTC) + LATER) == 1
    first, second = customer.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    attempts = await surviving.rows("SELECT attempt, status, problem FROM notifier.delivery_attempts ORDER BY attempt")
    assert [tuple(row) for row in attempts] == [(1, None, "INTERRUPTED"), (2, 200, None)]
    [endpoint] = await surviving.rows("SELECT in_flight FROM notifier.endpoints")
    assert endpoint.in_flight == 0


@pytest.mark.parametrize("status", [200, 410, 500])
async def test_a_stalled_process_settles_nothing_after_its_lease(build: Any, customer: Any, status: int) -> None:
    stalled, other = await build(), await build()
    customer.replies["/hook"] = [customer.reply(status=status)]
    await stalled.endpoint(customer.url())
    await stalled.hear(stalled.fact())
    [old] = await stalled.deliver.claim(10)
    await other.deliver.take_back(now=datetime.now(UTC) + LATER)
    [new] = await other.deliver.claim(10, now=datetime.now(UTC) + LATER)
    assert (old.delivery_id, old.attempt, new.attempt) == (new.delivery_id, 1, 2)
    await stalled.deliver.carry_out(old)
    assert await stalled.states() == ["SENDING"], "the new lease is untouched"
    assert await stalled.said() == []
    [endpoint] = await stalled.rows("SELECT in_flight, failures, active FROM notifier.endpoints")
    assert tuple(endpoint) == (1, 0, True)
    customer.replies["/hook"] = [customer.reply()]
    await other.deliver.carry_out(new)
    assert await other.states() == ["DELIVERED"]
    assert [type(fact) for fact in await other.said()] == [WebhookDelivered]
    attempts = await other.rows("SELECT attempt, status FROM notifier.delivery_attempts ORDER BY attempt")
    assert [tuple(row) for row in attempts] == [(1, status), (2, 200)], "the log tells what really happened"


async def test_an_unavailable_database_is_asked_again_within_the_lease(build: Any, customer: Any) -> None:
    rig = await build()
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    write, failures = rig.settlements._write, iter(range(2))

    async def flaky(tx: Any, items: Any) -> Any:
        if next(failures, None) is not None:
            raise UnavailableError("blip")
        return await write(tx, items)

    rig.settlements._write = flaky
    await rig.work_off()
    assert await rig.states() == ["DELIVERED"]
    assert len(customer.received) == 1


async def test_stopping_finishes_what_is_under_way(build: Any, customer: Any, wait_until: Any) -> None:
    rig = await build(timeout_seconds=1.0)
    customer.replies["/hook"] = [customer.reply(hang=True)]
    await rig.endpoint(customer.url())
    await rig.hear(*(rig.fact() for _ in range(3)))
    sending = await rig.run()
    await wait_until(lambda: len(customer.received) == 3, "three calls under way")
    await sending.stop()
    rows = await rig.rows("SELECT state, last_problem FROM notifier.deliveries")
    assert {(row.state, row.last_problem) for row in rows} == {("PENDING", "TIMEOUT")}


@pytest.mark.parametrize("replicas", [3])
async def test_many_replicas_taking_back_and_settling_at_once(build: Any, customer: Any, replicas: int) -> None:
    rigs = [await build(lease_seconds=0.05, pauses=(0.01,) * 9) for _ in range(replicas)]
    for index in range(5):
        await rigs[0].endpoint(customer.url(f"/{index}"))
    await rigs[0].hear(*(rigs[0].fact() for _ in range(20)))

    async def churn(rig: Any) -> None:
        while "DELIVERED" not in set(states := await rig.states()) or len(set(states)) > 1:
            claimed = await rig.deliver.claim(20)
            kept, _abandoned = claimed[::2], claimed[1::2]
            await asyncio.gather(*(rig.deliver.carry_out(delivery) for delivery in kept))
            await rig.deliver.take_back()

    async with asyncio.timeout(60):
        await asyncio.gather(*(churn(rig) for rig in rigs))
    assert await rigs[0].states() == ["DELIVERED"] * 100
    rows = await rigs[0].rows("SELECT in_flight FROM notifier.endpoints")
    assert {row.in_flight for row in rows} == {0}
