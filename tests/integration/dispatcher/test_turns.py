"""Whose turn it is in a lane, on a real database: fair between tenants, never late for an OTP, within every cap."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from contracts.values import Category, Pace, PacingPolicy
from dispatcher.usecases.claim_due import ClaimDue

from .crowd import crowd, make_room
from .rig import FAST, NO_GAP, PACED, Rig

Build = Callable[..., Awaitable[Rig]]
ONE_BY_ONE = FAST.model_copy(update={"max_in_flight": 1})


async def test_two_replicas_claim_thousands_once_each_and_in_fair_order(build: Build) -> None:
    """On the database's own clock, which tells in what order the turns of a lane were."""
    replicas = [await build(), await build()]
    rig = replicas[0]
    rig.now.value = datetime.now(UTC)
    lanes, small = ("lane-0", "lane-1"), [uuid4() for _ in range(5)]
    for lane in lanes:
        await rig.open_lane(lane, pacing=FAST.model_copy(update={"max_in_flight": 20}))
        await crowd(rig, 2_000, instance=lane)
        for tenant in small:
            await crowd(rig, 100, instance=lane, tenant_id=tenant)
    left = 5_000

    async def work(replica: Rig) -> None:
        nonlocal left
        claim = ClaimDue(database=replica.database, rules=replica.rules, dice=replica.roll)
        while left > 0:
            ended = Counter(attempt.ref.instance for attempt in (await claim(30)).attempts)
            left -= ended.total()
            await make_room(replica, ended)

    async with asyncio.timeout(240):
        await asyncio.gather(*(work(replica) for replica in replicas for _ in range(2)))
    [row] = await rig.rows("SELECT count(*) AS tries, count(DISTINCT message_id) AS jobs FROM dispatcher.attempts")
    assert (row.tries, row.jobs, left) == (5_000, 5_000, 0)
    for lane in lanes:
        await assert_fair(rig, lane, small)


async def assert_fair(rig: Rig, lane: str, small: Sequence[UUID]) -> None:
    """Turns go through the tags in order, and whoever has 100 is done when everybody had 100, give or take a turn."""
    rows = await rig.rows(
        "SELECT started_at, tag, tenant_id FROM dispatcher.jobs WHERE instance = :lane ORDER BY started_at, tag",
        lane=lane,
    )
    assert [row.tag for row in rows] == sorted(row.tag for row in rows)
    last = max(number for number, row in enumerate(rows) if row.tenant_id in small)
    assert last <= 100 * (len(small) + 1) + 20


async def claim_one(rig: Rig) -> Any:
    """The only attempt of a pass, carried out."""
    [attempt] = (await rig.claim()).attempts
    await rig.carry_out(attempt)
    return attempt


async def test_a_tenant_with_ten_messages_does_not_wait_for_ten_thousand(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    await crowd(rig, 10_000)
    few = uuid4()
    await crowd(rig, 10, tenant_id=few)
    tenants = []
    for _ in range(30):
        [attempt] = (await rig.claim()).attempts
        tenants.append(attempt.ref.tenant_id)
        await make_room(rig, {"loja": 1})
    assert tenants.count(few) == 10


async def test_weights_share_the_turns(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    heavy, light = uuid4(), uuid4()
    await crowd(rig, 60, tenant_id=light)
    await crowd(rig, 60, tenant_id=heavy, weight=3)
    turns: Counter[UUID] = Counter()
    for _ in range(40):
        [attempt] = (await rig.claim()).attempts
        turns[attempt.ref.tenant_id] += 1
        await make_room(rig, {"loja": 1})
    assert abs(turns[heavy] - 30) <= 1


async def test_an_otp_behind_ten_thousand_marketing_messages_leaves_in_the_next_slot(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    await crowd(rig, 10_000, category=Category.MARKETING, window=86_400)
    assert (await claim_one(rig)).ref.category is Category.MARKETING
    [otp] = await rig.accept(category=Category.OTP)
    rig.now.pass_(2)
    assert (await claim_one(rig)).ref == otp


async def test_a_lower_category_keeps_its_share(rig: Rig) -> None:
    await rig.open_lane(pacing=ONE_BY_ONE)
    await crowd(rig, 40, category=Category.OTP)
    await crowd(rig, 10, category=Category.MARKETING)
    turns = []
    for _ in range(20):
        [attempt] = (await rig.claim()).attempts
        turns.append(attempt.ref.category)
        await make_room(rig, {"loja": 1})
    assert turns.count(Category.MARKETING) == 2, "one turn in ten"


async def test_a_cap_holds_whatever_the_real_clock_does(build: Build) -> None:
    """20 an hour: a tenth may run ahead of the even spread, so three at once and the next one minutes later."""
    rig = await build()
    rig.now.value = datetime.now(UTC)
    capped = Pace(min_ms=0, max_ms=0, per_hour=20)
    await rig.open_lane(pacing=FAST.model_copy(update={"utility": capped}))
    await crowd(rig, 30)
    claim = ClaimDue(database=rig.database, rules=rig.rules, dice=rig.roll)
    passes = [await claim(50) for _ in range(20)]
    assert sum(len(one.attempts) for one in passes) == 3
    wait = passes[-1].seconds_until_work
    assert wait is not None
    assert 60 < wait <= 200


async def test_no_hour_holds_more_than_its_cap(rig: Rig) -> None:
    capped = Pace(min_ms=1_000, max_ms=5_000, per_hour=12)
    await rig.open_lane(pacing=PACED.model_copy(update={"utility": capped}))
    await crowd(rig, 60, window=86_400)
    start, sent = rig.now(), []
    while (seconds := (rig.now() - start).total_seconds()) < 3 * 3_600:
        if (await rig.claim_only()).attempts:
            sent.append(seconds)
            await make_room(rig, {"loja": 1})
        rig.now.pass_(97)
    windows = [sum(begin <= at < begin + 3_600 for at in sent) for begin in sent]
    assert max(windows) <= 12
    assert len(sent) >= 30, "and most of what is allowed is used"


async def test_a_resumed_lane_has_saved_nothing_up(rig: Rig) -> None:
    bursting = Pace(min_ms=10_000, max_ms=10_000, burst=4)
    policy = PacingPolicy(otp=NO_GAP, utility=bursting, marketing=NO_GAP, max_in_flight=10)
    await rig.open_lane(pacing=policy)
    await crowd(rig, 30, window=86_400)
    assert len((await rig.claim()).attempts) == 1, "a lane that has just opened"
    rig.now.pass_(600)
    assert len((await rig.claim()).attempts) == 4, "a lane that rested while it was open"
    await rig.configure(pacing=policy, version=2, paused=True)
    rig.now.pass_(600)
    await rig.configure(pacing=policy, version=3)
    assert len((await rig.claim()).attempts) == 1


async def test_first_contacts_have_a_budget_and_others_pass_them(rig: Rig) -> None:
    await rig.open_lane(pacing=FAST.model_copy(update={"first_contacts_per_day": 5}))
    known = "5547990000001"
    await rig.accept(to=known)
    await rig.dispatch()
    strangers = await rig.accept(*(rig.message(to=f"55479911100{n:02}", window=86_400) for n in range(4)))
    [friend] = await rig.accept(to=known, said="again")
    claimed = [attempt.ref for attempt in (await rig.claim()).attempts]
    assert friend in claimed
    assert claimed == [friend], "the day's evenly spread budget is spent by the first one"
    rig.now.pass_(86_400 / 5)
    await rig.configure(pacing=FAST.model_copy(update={"first_contacts_per_day": 5}), version=2)
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref in strangers


async def test_the_default_number_does_not_say_the_same_twice_in_a_row(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED, platform_default=True)
    await rig.accept(said="hello")
    await rig.dispatch()
    rig.now.pass_(10)
    [same] = await rig.accept(said="hello")
    rig.now.pass_(1)
    [other] = await rig.accept(said="something else")
    before = (await rig.lane()).gap_at
    claimed = await rig.claim()
    assert claimed.seconds_until_work == 0, "what is suppressed uses no slot"
    assert (await rig.lane()).gap_at == before
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref == other
    job = await rig.job(same)
    assert (job.state, job.error_code, job.sealed, job.attempt) == ("FAILED", "DUPLICATE_SUPPRESSED", None, 0)
    await rig.carry_out(attempt)
    rig.now.pass_(10)
    await rig.accept(said="hello")
    assert len(await rig.dispatch()) == 1, "something else was said in between"
    rig.now.pass_(86_401)
    await rig.accept(said="hello")
    assert len(await rig.dispatch()) == 1, "a day later"


async def test_another_number_may_repeat_itself(rig: Rig) -> None:
    await rig.open_lane()
    for _ in range(2):
        await rig.accept(said="hello")
        assert len(await rig.dispatch()) == 1
