"""One endpoint's, or one tenant's, trouble is nobody else's."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest


async def test_a_dead_endpoint_does_not_delay_another(build: Any, customer: Any, wait_until: Any) -> None:
    rig = await build()
    customer.replies["/dead"] = [customer.reply(hang=True)]
    dead, _ = await rig.endpoint(customer.url("/dead"))
    await rig.hear(*(rig.fact() for _ in range(60)))
    await rig.endpoint(customer.url("/alive"))
    await rig.hear(*(rig.fact() for _ in range(60)))
    await rig.run(calls_max=12)
    await wait_until(lambda: len(customer.at("/alive")) == 60, "every delivery of the other endpoint")
    settled = await rig.rows("SELECT count(*) AS n FROM notifier.delivery_attempts WHERE endpoint_id = :id", id=dead)
    assert settled[0].n == 0, "not one call to the dead endpoint had ended by then"
    assert len(customer.at("/dead")) == 10


async def test_no_more_at_once_than_allowed_even_by_two_replicas(build: Any, customer: Any, wait_until: Any) -> None:
    replicas = [await build(per_endpoint=3) for _ in range(2)]
    await replicas[0].endpoint(customer.url())
    await replicas[0].hear(*(replicas[0].fact() for _ in range(150)))
    for replica in replicas:
        await replica.run()
    await wait_until(lambda: len(customer.received) >= 150, "all")
    await wait_until(lambda: settled(replicas[0], 150), "settled")
    assert customer.most_at_once["/hook"] <= 3
    assert Counter(request.headers["webhook-id"] for request in customer.received).most_common(1)[0][1] == 1
    [endpoint] = await replicas[0].rows("SELECT in_flight FROM notifier.endpoints")
    assert endpoint.in_flight == 0


async def settled(rig: Any, count: int) -> bool:
    return list(await rig.states()).count("DELIVERED") == count


async def test_replicas_claiming_at_once_never_claim_the_same(build: Any, customer: Any) -> None:
    replicas = [await build(per_endpoint=7, per_tenant=1_000) for _ in range(4)]
    for index in range(20):
        await replicas[0].endpoint(customer.url(f"/{index}"))
    await replicas[0].hear(*(replicas[0].fact() for _ in range(20)))
    claims = await asyncio.gather(*(replica.deliver.claim(40) for replica in replicas for _ in range(4)))
    claimed = [delivery for claim in claims for delivery in claim]
    assert len({delivery.delivery_id for delivery in claimed}) == len(claimed)
    per_endpoint = Counter(delivery.endpoint_id for delivery in claimed)
    assert max(per_endpoint.values()) <= 7
    rows = await replicas[0].rows("SELECT endpoint_id, in_flight FROM notifier.endpoints")
    assert {row.endpoint_id: row.in_flight for row in rows if row.in_flight} == dict(per_endpoint)


async def test_a_failing_endpoint_gets_one_call_at_a_time(build: Any, customer: Any) -> None:
    rig = await build(pauses=(0.01,) * 9)
    customer.replies["/hook"] = [customer.reply(status=500)]
    await rig.endpoint(customer.url())
    await rig.hear(*(rig.fact() for _ in range(30)))
    later = datetime.now(UTC) + timedelta(hours=1)
    assert await rig.work_off(now=later) == 10
    assert [await rig.work_off(now=later) for _ in range(3)] == [1, 1, 1]
    customer.replies["/hook"] = [customer.reply()]
    assert await rig.work_off(now=later) == 1
    assert await rig.work_off(now=later) == 10, "one success opens it again"


async def test_a_tenant_cannot_take_every_slot(build: Any, customer: Any) -> None:
    rig = await build(per_tenant=15)
    greedy, modest = uuid4(), uuid4()
    for index in range(5):
        await rig.endpoint(customer.url(f"/greedy/{index}"), tenant_id=greedy)
    await rig.hear(*(rig.fact(tenant_id=greedy) for _ in range(20)))
    await rig.endpoint(customer.url("/modest"), tenant_id=modest)
    await rig.hear(rig.fact(tenant_id=modest))
    first = await rig.deliver.claim(100)
    assert Counter(delivery.ref.tenant_id for delivery in first) == {greedy: 15, modest: 1}
    assert len({delivery.endpoint_id for delivery in first}) == 6, "spread over all endpoints"
    assert await rig.deliver.claim(100) == []


async def test_only_what_is_due_is_claimed(build: Any, customer: Any) -> None:
    rig = await build(pauses=(3_600,) * 9)
    customer.replies["/hook"] = [customer.reply(status=500), customer.reply()]
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.work_off()
    await rig.hear(rig.fact())
    assert await rig.work_off() == 1
    assert sorted(await rig.states()) == ["DELIVERED", "PENDING"]


async def test_scarce_slots_go_round(build: Any, customer: Any) -> None:
    rig = await build()
    for index in range(4):
        await rig.endpoint(customer.url(f"/{index}"))
    await rig.hear(*(rig.fact() for _ in range(10)))
    claimed = await rig.deliver.claim(8)
    assert set(Counter(delivery.endpoint_id for delivery in claimed).values()) == {2}


async def test_deliveries_of_an_endpoint_that_is_off_wait(build: Any, customer: Any) -> None:
    rig = await build()
    await rig.endpoint(customer.url())
    await rig.hear(rig.fact())
    await rig.rows("UPDATE notifier.endpoints SET active = false RETURNING 1")
    assert await rig.work_off() == 0
    await rig.rows("UPDATE notifier.endpoints SET active = true RETURNING 1")
    assert await rig.work_off() == 1


@pytest.mark.parametrize("backlog", [50_000])
async def test_a_claim_does_not_read_the_backlog(build: Any, customer: Any, backlog: int) -> None:
    rig = await build()
    dead, _ = await rig.endpoint(customer.url("/dead"))
    await rig.endpoint(customer.url("/alive"))
    await rig.hear(rig.fact())
    await rig.rows(
        "INSERT INTO notifier.deliveries (delivery_id, endpoint_id, tenant_id, message_id, round, version, event, ref,"
        " sealed_body, changed_at, due_at) SELECT gen_random_uuid(), endpoint_id, tenant_id, gen_random_uuid(), 1, 2,"
        " event, ref, sealed_body, now(), now() - interval '1 hour'"
        " FROM notifier.deliveries, generate_series(1, :n) WHERE endpoint_id = :id RETURNING 1",
        n=backlog,
        id=dead,
    )
    before = await touched(rig)
    claimed = await rig.deliver.claim(20)
    assert Counter(delivery.endpoint_id == dead for delivery in claimed) == {True: 10, False: 1}
    assert 11 <= await touched(rig) - before < 500


async def touched(rig: Any) -> int:
    """Rows of deliveries read so far, by any plan."""
    await rig.rows("SELECT pg_stat_force_next_flush()")
    rows = await rig.rows(
        "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS n FROM pg_stat_user_tables"
        " WHERE schemaname = 'notifier' AND relname = 'deliveries'"
    )
    return int(rows[0].n)
