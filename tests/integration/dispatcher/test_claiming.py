"""Who may be sent now: order, pacing, limits, deadlines, and never the same job twice."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from contracts.errors import ErrorCode
from contracts.facts import MessageDispatchFailed
from contracts.values import Category, Environment, Pace, PacingPolicy
from dispatcher.domain.fairness import slot_index
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import Rules
from gateways.port import NotSent, NotSentReason

from .rig import FAST, NO_GAP, PACED, Rig

Build = Callable[..., Awaitable[Rig]]
OTP, UTILITY = (slot_index(Environment.LIVE, category) for category in (Category.OTP, Category.UTILITY))


async def test_order_is_category_then_urgent_then_due_time(rig: Rig) -> None:
    one_by_one = PacingPolicy(otp=NO_GAP, utility=NO_GAP, marketing=NO_GAP, max_in_flight=1)
    await rig.open_lane(pacing=one_by_one)
    wanted = [
        rig.message(category=Category.MARKETING, due_in=-30),
        rig.message(category=Category.UTILITY, due_in=-20),
        rig.message(category=Category.UTILITY, due_in=-40),
        rig.message(category=Category.UTILITY, due_in=-10, urgent=True),
        rig.message(category=Category.OTP, due_in=-1),
    ]
    await rig.accept(*wanted)
    order = []
    while (claimed := await rig.claim()).attempts:
        [attempt] = claimed.attempts
        order.append(attempt.key)
        await rig.carry_out(attempt)
    assert order == [(wanted[index].ref.message_id, 1) for index in (4, 3, 2, 1, 0)]


async def test_gaps_are_counted_from_the_start_of_the_previous_send(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    await rig.accept(*(rig.message(category=Category.UTILITY) for _ in range(3)))
    assert len(await rig.dispatch()) == 1
    assert (await rig.lane()).gap_at[UTILITY] == rig.now() + timedelta(seconds=8), "half way between 6 and 10 s"
    claimed = await rig.claim()
    assert claimed.attempts == []
    assert claimed.seconds_until_work == pytest.approx(8)
    rig.now.pass_(7.9)
    assert await rig.dispatch() == []
    rig.now.pass_(0.1)
    assert len(await rig.dispatch()) == 1


async def test_an_otp_never_waits_for_the_gap_of_a_bulk_message(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    await rig.accept(*(rig.message(category=Category.MARKETING) for _ in range(2)))
    await rig.dispatch()
    await rig.accept(category=Category.OTP)
    assert await rig.dispatch() == [], "the gap of an OTP itself is kept"
    rig.now.pass_(2)
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref.category is Category.OTP
    await rig.carry_out(attempt)
    rig.now.pass_(2)
    assert await rig.dispatch() == [], "the bulk message still keeps its own gap"
    rig.now.pass_(34)
    [attempt] = (await rig.claim()).attempts
    assert attempt.ref.category is Category.MARKETING


async def test_jitter_spreads_the_gap_between_its_bounds(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED.model_copy(update={"otp": Pace(min_ms=1_000, max_ms=3_000)}))
    for dice, seconds in ((0.0, 1.0), (0.25, 1.5), (0.999, 2.998)):
        rig.dice = dice
        await rig.accept(category=Category.OTP)
        await rig.dispatch()
        assert ((await rig.lane()).gap_at[OTP] - rig.now()).total_seconds() == pytest.approx(seconds)
        rig.now.pass_(10)


async def test_pacing_burns_no_attempt_and_a_paused_lane_sends_nothing(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    refs = await rig.accept(*(rig.message() for _ in range(2)))
    await rig.dispatch()
    for _ in range(5):
        await rig.claim()
    assert sorted([(await rig.job(ref)).attempt for ref in refs]) == [0, 1]
    await rig.configure(pacing=PACED, version=2, paused=True)
    rig.now.pass_(60)
    assert (await rig.claim()).attempts == []
    await rig.configure(pacing=PACED, version=3)
    await rig.configure(pacing=PACED, version=2, paused=True)
    assert len(await rig.dispatch()) == 1, "an older version changes nothing"


async def test_what_is_not_due_waits_and_becomes_ready_by_itself(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=30)
    claimed = await rig.claim()
    assert claimed.attempts == []
    assert claimed.seconds_until_work == pytest.approx(30)
    assert (await rig.job(ref)).state == "SCHEDULED"
    rig.now.pass_(30)
    assert len(await rig.dispatch()) == 1


@pytest.mark.parametrize("is_scheduled", [False, True])
async def test_never_late_without_an_attempt(rig: Rig, is_scheduled: bool) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=5 if is_scheduled else 0, window=60)
    rig.now.pass_(65 if is_scheduled else 60)
    assert await rig.dispatch() == []
    [fact] = await rig.said(MessageDispatchFailed)
    assert (fact.ref, fact.error_code, fact.attempt) == (ref, ErrorCode.MESSAGE_EXPIRED, 0)
    assert (await rig.job(ref)).sealed is None
    assert rig.gateway.sent == []


async def test_never_late_after_attempts(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(window=60)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=50))
    await rig.dispatch()
    rig.now.pass_(60)
    await rig.dispatch()
    [fact] = await rig.said(MessageDispatchFailed)
    assert (fact.error_code, fact.attempt) == (ErrorCode.EXPIRED_AFTER_ATTEMPTS, 1)
    assert len(rig.gateway.sent) == 1


async def test_the_claim_itself_refuses_what_is_late_even_if_nothing_expired_it_before(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(window=60)
    await rig.accept(window=60.001)
    rig.now.pass_(60)
    assert len((await rig.claim_only()).attempts) == 1


async def test_an_attempt_that_would_be_late_or_unprotected_is_not_begun(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(window=3_600)
    [attempt] = (await rig.claim()).attempts
    await rig.carry_out(attempt, rig.book.monotonic() - 31)
    assert rig.gateway.sent == []
    job = await rig.job(ref)
    assert (job.state, job.lease_token, (await rig.lane()).in_flight) == ("SCHEDULED", None, 0)
    await rig.dispatch()
    assert len(rig.gateway.sent) == 1


async def test_many_claimants_on_many_lanes_never_share_a_job_and_respect_the_limits(build: Build) -> None:
    replicas = [await build() for _ in range(3)]
    rig, lanes, jobs_per_lane = replicas[0], 12, 25
    limited = FAST.model_copy(update={"max_in_flight": 3})
    for lane in range(lanes):
        await rig.open_lane(f"lane-{lane}", pacing=limited)
    messages = [rig.message(instance=f"lane-{n % lanes}", said=f"m{n}") for n in range(lanes * jobs_per_lane)]
    await rig.accept(*messages)
    claimed: list[Attempt] = []
    highest: Counter[str] = Counter()
    in_flight: Counter[str] = Counter()

    async def work(replica: Rig) -> None:
        while len(claimed) < len(messages):
            batch = await replica.claim(7)
            for attempt in batch.attempts:
                claimed.append(attempt)
                in_flight[attempt.ref.instance] += 1
                highest[attempt.ref.instance] = max(highest[attempt.ref.instance], in_flight[attempt.ref.instance])
            for attempt in batch.attempts:
                in_flight[attempt.ref.instance] -= 1
            await asyncio.gather(*(replica.carry_out(attempt) for attempt in batch.attempts))

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(replica) for replica in replicas for _ in range(4)))
    assert len({attempt.key for attempt in claimed}) == len(claimed) == len(messages)
    assert len(rig.gateway.sent) == len(messages)
    [over] = await rig.rows("SELECT count(*) AS open FROM dispatcher.jobs WHERE state <> 'DISPATCHED'")
    assert over.open == 0
    assert {row.in_flight for row in await rig.rows("SELECT in_flight FROM dispatcher.lanes")} == {0}


async def test_in_flight_never_exceeds_the_lane_limit_while_claimants_race(build: Build) -> None:
    replicas = [await build() for _ in range(3)]
    rig = replicas[0]
    await rig.open_lane(pacing=FAST.model_copy(update={"max_in_flight": 4}))
    await rig.accept(*(rig.message(said=f"m{n}") for n in range(60)))
    for _ in range(10):
        results = await asyncio.gather(*(replica.claim(50) for replica in replicas for _ in range(3)))
        attempts = [attempt for result in results for attempt in result.attempts]
        assert len(attempts) == 4
        assert (await rig.lane()).in_flight == 4
        await asyncio.gather(*(rig.carry_out(attempt) for attempt in attempts))


async def test_the_next_one_is_claimed_while_its_gap_runs_and_called_at_its_instant(build: Build) -> None:
    rig = await build(rules=Rules(ahead=timedelta(milliseconds=100)))
    await rig.open_lane(pacing=PACED.model_copy(update={"otp": Pace(min_ms=200, max_ms=200), "max_in_flight": 3}))
    await rig.accept(*(rig.message(category=Category.OTP) for _ in range(3)))
    await rig.dispatch()
    opening = rig.now() + timedelta(milliseconds=200)
    assert (await rig.claim()).seconds_until_work == pytest.approx(0.1)
    rig.now.pass_(0.15)
    claimed = await rig.claim()
    [attempt] = claimed.attempts
    assert (attempt.started_at, attempt.leaves_at) == (rig.now(), opening)
    assert (await rig.lane()).gap_at[OTP] == opening + timedelta(milliseconds=200), "late or not, the pace is kept"
    assert (await rig.claim()).attempts == [], "never two of them"
    await rig.carry_out(attempt, claimed.claimed_at)
    assert rig.book.monotonic() - claimed.claimed_at >= 0.05
