"""Why a message waits, what leaves before it and when its turn is expected; and how deep a lane is."""

from datetime import datetime, timedelta
from uuid import uuid4

from contracts.dispatch_questions import (
    DescribeLane,
    ExplainMessage,
    JobExplained,
    LaneDescribed,
    MessageExplained,
)
from contracts.values import Category, ConnectionState, Environment, MessageRef
from dispatcher.domain.jobs import Attempt
from dispatcher.store.explaining import COUNT_MAX
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob
from gateways.port import NotSent, NotSentReason, Unknown, UnknownReason

from .crowd import crowd
from .rig import PACED, Rig


async def explain(rig: Rig, ref: MessageRef) -> MessageExplained:
    return await ExplainJob(database=rig.database, clock=rig.now)(ExplainMessage(ref=ref))


async def job_of(rig: Rig, ref: MessageRef) -> JobExplained:
    explained = await explain(rig, ref)
    assert explained.job is not None
    return explained.job


async def describe(rig: Rig, instance: str = "loja") -> LaneDescribed:
    return await DescribeNumber(database=rig.database, clock=rig.now)(DescribeLane(instance=instance))


async def test_a_message_that_has_not_arrived_has_no_job(rig: Rig) -> None:
    await rig.open_lane()
    explained = await explain(rig, rig.message().ref)
    assert explained.job is None
    assert explained.lane is not None
    assert explained.lane.state is ConnectionState.OPEN


async def test_a_scheduled_message_is_expected_at_its_time(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=600)
    job = await job_of(rig, ref)
    assert (job.state, job.attempt, job.due_at) == ("SCHEDULED", 0, rig.now() + timedelta(seconds=600))
    assert job.expected_at == job.due_at


async def test_the_position_counts_what_the_claim_would_take_first(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    first = rig.message(said="first")
    rig.now.pass_(1)
    otp, marketing, urgent, last = (
        rig.message(category=Category.OTP, said="otp"),
        rig.message(category=Category.MARKETING, said="ad"),
        rig.message(urgent=True, said="urgent"),
        rig.message(said="last", due_in=0.5),
    )
    rig.now.pass_(1)
    await rig.accept(first, otp, marketing, urgent, last)
    positions = {name: (await job_of(rig, one.ref)).ahead for name, one in (
        ("otp", otp), ("urgent", urgent), ("first", first), ("last", last), ("ad", marketing),
    )}  # fmt: skip
    assert positions == {"otp": 0, "urgent": 1, "first": 2, "last": 3, "ad": 4}
    order = [attempt.ref.message_id for attempt in (await drain(rig))]
    assert order == [one.ref.message_id for one in (otp, urgent, first, last, marketing)]


async def drain(rig: Rig) -> list[Attempt]:
    """Every claim until nothing is left, moving the clock to each next slot."""
    attempts: list[Attempt] = []
    for _ in range(50):
        claimed = await rig.claim()
        for attempt in claimed.attempts:
            attempts.append(attempt)
            await rig.carry_out(attempt, claimed.claimed_at)
        rig.now.pass_(1)
        if len(attempts) == 5:
            break
        rig.now.pass_(5)
    return attempts


async def test_the_forecast_is_near_what_really_happens(rig: Rig) -> None:
    """With the middle of every gap drawn, the estimate is off by the polling of this test at most."""
    await rig.open_lane(pacing=PACED)
    messages = [rig.message(said=f"m{number}") for number in range(8)]
    refs = [message.ref for message in messages]
    await rig.accept(*messages)
    expected = [(await job_of(rig, ref)).expected_at for ref in refs]
    assert None not in expected
    left: dict[object, datetime] = {}
    for _ in range(400):
        claimed = await rig.claim()
        for attempt in claimed.attempts:
            left[attempt.ref.message_id] = rig.now()
            await rig.carry_out(attempt, claimed.claimed_at)
        rig.now.pass_(0.25)
    order = sorted(left.values())
    for at, thought in zip(order, sorted(one for one in expected if one), strict=True):
        assert abs(at - thought) <= timedelta(seconds=3), (at, thought)


async def test_nothing_is_promised_while_the_number_is_closed_or_paused(rig: Rig) -> None:
    await rig.configure(paused=True)
    [ref] = await rig.accept()
    explained = await explain(rig, ref)
    assert explained.lane is not None
    assert (explained.lane.paused, explained.lane.state) == (True, ConnectionState.CONNECTING)
    assert explained.job is not None
    assert (explained.job.state, explained.job.expected_at) == ("READY", None)
    await rig.open_lane(version=2)
    assert (await job_of(rig, ref)).expected_at == rig.now()
    [orphan] = await rig.accept(instance="unknown")
    explained = await explain(rig, orphan)
    assert explained.lane is None
    assert explained.job is not None
    assert explained.job.expected_at is None


async def test_an_attempt_is_explained_in_every_state(rig: Rig) -> None:
    await rig.open_lane()
    [unsent] = await rig.accept(rig.message(said="unsent"))
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE))
    await rig.dispatch()
    [lost] = await rig.accept(rig.message(said="lost"))
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    job = await job_of(rig, unsent)
    assert (job.state, job.attempt, job.reason) == ("SCHEDULED", 1, "UNREACHABLE")
    job = await job_of(rig, lost)
    assert (job.state, job.attempt, job.expected_at) == ("UNCERTAIN", 1, None)
    assert job.resolve_by is not None
    [calling] = await rig.accept(rig.message(said="calling"))
    await rig.claim()
    assert (await job_of(rig, calling)).state == "IN_FLIGHT"


async def test_a_lane_is_described_by_category(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(rig.message(said="sent"))
    await rig.dispatch()
    await rig.accept(rig.message(said="lost"))
    rig.gateway.answers.append(Unknown(reason=UnknownReason.TIMEOUT))
    await rig.dispatch()
    await rig.accept(rig.message(said="calling"))
    await rig.claim()
    await rig.accept(
        rig.message(category=Category.OTP),
        rig.message(),
        rig.message(),
        rig.message(due_in=60),
        rig.message(category=Category.MARKETING, due_in=60),
        rig.message(instance="other", category=Category.OTP),
    )
    described = await describe(rig)
    assert described.lane is not None
    assert (described.lane.in_flight, described.lane.max_in_flight, described.uncertain) == (1, 10, 1)
    depths = {depth.category: (depth.ready, depth.scheduled) for depth in described.depths}
    assert depths == {Category.OTP: (1, 0), Category.UTILITY: (2, 1), Category.MARKETING: (0, 1)}
    ages = {depth.category: depth.oldest_due_at for depth in described.depths}
    assert ages == {Category.OTP: rig.now(), Category.UTILITY: rig.now(), Category.MARKETING: None}
    assert [depth.allowed_per_hour for depth in described.depths] == [None] * 3, "there is no gap"
    assert len(described.tenants) == 3
    assert described.sent_last_hour == 1
    assert await describe(rig, "nobody") == LaneDescribed()


async def test_a_lane_tells_what_forecasts_are_made_of(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    await rig.accept(rig.message(urgent=True), rig.message(urgent=True), rig.message())
    await rig.dispatch()
    described = await describe(rig)
    assert {depth.category: (depth.ready, depth.urgent) for depth in described.depths} == {
        Category.OTP: (0, 0),
        Category.UTILITY: (2, 1),
        Category.MARKETING: (0, 0),
    }
    assert {(pace.environment, pace.category) for pace in described.paces} == {
        (environment, category) for environment in Environment for category in Category
    }
    [utility] = [
        pace for pace in described.paces if (pace.environment, pace.category) == (Environment.LIVE, Category.UTILITY)
    ]
    assert (utility.gap.arrival_at, utility.gap.interval_ms) == (rig.now() + timedelta(seconds=8), 8_000)
    assert utility.caps == ()
    assert described.min_share == 10


async def test_counting_stops_at_a_bound(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    tenant = uuid4()
    await crowd(rig, COUNT_MAX + 100, tenant_id=tenant)
    rig.now.pass_(1)
    last, other = rig.message(tenant_id=tenant), rig.message()
    await rig.accept(last, other)
    assert (await job_of(rig, last.ref)).ahead == COUNT_MAX
    assert (await job_of(rig, other.ref)).ahead == 1, "another tenant waits for its turn and not for the backlog"
    described = await describe(rig)
    assert [depth.ready for depth in described.depths] == [0, COUNT_MAX, 0]
    assert described.tenants[0].ready in (COUNT_MAX, COUNT_MAX - 1)
    assert described.tenants[0].tenant_id == tenant
    assert (await explain(rig, MessageRef.model_copy(last.ref, update={"message_id": uuid4()}))).job is None
