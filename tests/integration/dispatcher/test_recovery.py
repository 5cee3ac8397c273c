"""After an outage of the whole dispatcher: recent work is done, stale work is not done late, and each is told once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import text

from chassis.database import UnavailableError
from contracts.errors import ErrorCode
from contracts.facts import MessageDispatchFailed
from contracts.values import Category, ConnectionState
from dispatcher.usecases import recover
from gateways.port import NotSent, NotSentReason

from .fleet import Replica
from .rig import PACED, Rig


async def work_until_nothing_is_left(rig: Rig, *, step: float = 1, seconds: float = 3_600) -> list[float]:
    """Promote and dispatch while time passes; when each send happened."""
    sends: list[float] = []
    start = rig.now()
    while (passed := (rig.now() - start).total_seconds()) < seconds:
        await rig.promote()
        sends += [passed] * len(await rig.dispatch())
        await rig.fail_expired()
        [left] = await rig.rows("SELECT count(*) AS jobs FROM dispatcher.jobs WHERE finished_at IS NULL")
        if left.jobs == 0:
            break
        rig.now.pass_(step)
    return sends


async def codes(rig: Rig) -> Counter[ErrorCode]:
    """What was said of messages that were not sent."""
    return Counter(fact.error_code for fact in await rig.said(MessageDispatchFailed))


async def outage(rig: Rig, seconds: float) -> None:
    """The fleet was at work until now, and nobody is for a while."""
    await Replica(rig).start()
    rig.now.pass_(seconds)


async def test_a_first_start_ends_no_outage(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=-7_200, window=14_400)
    await Replica(rig).start()
    assert await rig.rows("SELECT * FROM dispatcher.outages") == []
    assert (await rig.job(ref)).state == "READY"


async def test_case_34_what_fell_due_in_an_outage_is_sent_if_recent_and_fails_if_stale(rig: Rig) -> None:
    await rig.open_lane()
    refs = await rig.accept(*(rig.message(said=f"m{n}", due_in=60 + n * 60, window=14_400) for n in range(60)))
    await outage(rig, 3_600)
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
    await Replica(rig).start()
    stale = [await rig.job(ref) for ref in refs[:49]]
    assert {(job.state, job.error_code, job.sealed) for job in stale} == {("FAILED", "DELIVERY_TIMEOUT", None)}
    assert rig.gateway.sent == []
    await work_until_nothing_is_left(rig)
    assert {(await rig.job(ref)).state for ref in refs[49:]} == {"DISPATCHED"}
    assert len(rig.gateway.sent) == 11
    assert await codes(rig) == {ErrorCode.DELIVERY_TIMEOUT: 49}


async def test_what_arrives_after_an_outage_that_it_fell_due_in_is_judged_alike(rig: Rig) -> None:
    """Messages that waited in the broker while nobody took them in."""
    await rig.open_lane()
    await outage(rig, 7_200)
    replica = Replica(rig)
    await replica.start()
    stale, recent = (rig.message(said=f"{late}", due_in=-late, window=14_400) for late in (3_600, 300))
    await replica.take_in(stale, recent)
    await replica.take_in(stale, recent)
    assert (await rig.job(stale.ref)).error_code == "DELIVERY_TIMEOUT"
    assert (await rig.job(recent.ref)).state == "READY"
    assert await codes(rig) == {ErrorCode.DELIVERY_TIMEOUT: 1}
    await work_until_nothing_is_left(rig)
    assert len(rig.gateway.sent) == 1


async def test_nothing_is_taken_in_before_it_is_known_whether_anybody_was_at_work(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recover, "SETTLE_SECONDS", 0.01)
    replica, message = Replica(rig), rig.message()
    with pytest.raises(UnavailableError):
        await replica.take_in(message)
    assert await rig.rows("SELECT * FROM dispatcher.jobs") == []
    await replica.start()
    await replica.take_in(message)
    assert len(await rig.rows("SELECT * FROM dispatcher.jobs")) == 1


async def test_a_backlog_from_before_the_outage_is_governed_by_its_window_alone(rig: Rig) -> None:
    """Paced, retried later and held in a live lane: their time came while somebody was at work."""
    await rig.open_lane(pacing=PACED)
    paced = await rig.accept(*(rig.message(said=f"m{n}", window=14_400) for n in range(5)))
    rig.gateway.answers.append(NotSent(reason=NotSentReason.DISCONNECTED))
    await rig.dispatch(1)
    await outage(rig, 3_600)
    rig.gateway.answers.clear()
    await Replica(rig).start()
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
    await work_until_nothing_is_left(rig)
    assert {(await rig.job(ref)).state for ref in paced} == {"DISPATCHED"}
    assert await codes(rig) == {}


async def test_a_retry_that_fell_due_in_the_outage_is_stale_too(rig: Rig) -> None:
    await rig.open_lane()
    rig.dice = 0.9
    [ref] = await rig.accept(window=14_400)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=120))
    await rig.dispatch()
    assert (await rig.job(ref)).state == "SCHEDULED"
    await outage(rig, 3_600)
    await Replica(rig).start()
    job = await rig.job(ref)
    assert (job.state, job.error_code, job.attempt) == ("FAILED", "DELIVERY_TIMEOUT", 1)


async def test_a_short_absence_is_no_outage(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=1, window=14_400)
    await outage(rig, 60)
    await Replica(rig, sla=timedelta(seconds=1)).start()
    assert (await rig.job(ref)).state == "SCHEDULED"
    await rig.promote()
    assert len(await rig.dispatch()) == 1


async def test_what_falls_due_after_the_outage_is_not_its_business(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=7_200, window=14_400)
    await outage(rig, 3_600)
    replica = Replica(rig)
    await replica.start()
    rig.now.pass_(7_200)
    assert await replica.recover() is False
    await rig.promote()
    assert len(await rig.dispatch()) == 1
    assert (await rig.job(ref)).state == "DISPATCHED"


async def test_switched_off_everything_is_sent_until_its_window_closes(rig: Rig) -> None:
    await rig.open_lane()
    refs = await rig.accept(*(rig.message(said=f"m{n}", due_in=60, window=14_400) for n in range(3)))
    await outage(rig, 3_600)
    replica = Replica(rig, sla=None)
    await replica.start()
    await replica.take_in(rig.message(said="late", due_in=-1_800, window=14_400))
    await work_until_nothing_is_left(rig)
    assert {(await rig.job(ref)).state for ref in refs} == {"DISPATCHED"}
    assert len(rig.gateway.sent) == 4


async def test_replicas_that_start_together_fail_each_job_once(build: Callable[..., Awaitable[Rig]]) -> None:
    rigs = [await build() for _ in range(4)]
    rig = rigs[0]
    await rig.open_lane()
    stale = await rig.accept(*(rig.message(said=f"m{n}", due_in=60, window=14_400) for n in range(1_200)))
    recent = await rig.accept(*(rig.message(said=f"r{n}", due_in=3_300, window=14_400) for n in range(20)))
    await outage(rig, 3_600)
    replicas = [Replica(one) for one in rigs]
    await asyncio.gather(*(replica.start() for replica in replicas))
    facts = await rig.said(MessageDispatchFailed)
    assert len(facts) == len(stale)
    assert {fact.ref.message_id for fact in facts} == {ref.message_id for ref in stale}
    assert {fact.error_code for fact in facts} == {ErrorCode.DELIVERY_TIMEOUT}
    assert len(await rig.rows("SELECT * FROM dispatcher.outages")) == 1
    assert all(replica.outages.settled.is_set() for replica in replicas)
    assert {(await rig.job(ref)).state for ref in recent} == {"SCHEDULED"}


async def test_nobody_goes_to_work_while_another_replica_still_fails_stale_work(
    build: Callable[..., Awaitable[Rig]],
) -> None:
    first, second = await build(), await build()
    await first.open_lane()
    [ref] = await first.accept(due_in=60, window=14_400)
    await outage(first, 3_600)
    one, other = Replica(first), Replica(second)
    async with first.database.transaction() as tx:
        await tx.execute(text("SELECT FROM dispatcher.jobs FOR UPDATE"))
        await other.recover()
        assert not other.outages.settled.is_set()
    await one.start()
    await other.start()
    assert (await first.job(ref)).error_code == "DELIVERY_TIMEOUT"
    assert await codes(first) == {ErrorCode.DELIVERY_TIMEOUT: 1}


async def test_a_replica_that_joins_a_fleet_at_work_ends_no_outage(build: Callable[..., Awaitable[Rig]]) -> None:
    first, second = await build(), await build()
    await first.open_lane()
    at_work = Replica(first)
    await at_work.start()
    [ref] = await first.accept(due_in=30, window=14_400)
    for _ in range(200):
        first.now.pass_(5)
        await at_work.recover()
    await Replica(second).start()
    assert (await first.job(ref)).state == "SCHEDULED", "late, but somebody was at work"
    assert await first.rows("SELECT * FROM dispatcher.outages") == []


@pytest.mark.parametrize(("late", "state", "code"), [(300, "READY", None), (900, "FAILED", "DELIVERY_TIMEOUT")])
async def test_work_that_was_lost_is_put_back_only_within_the_sla(
    rig: Rig, late: float, state: str, code: str | None
) -> None:
    """Asked for by the reconciler, of whatever reason the work was lost."""
    await rig.open_lane()
    replica = Replica(rig)
    await replica.start()
    lost = rig.message(due_in=-late, window=14_400)
    await replica.requeue(lost)
    await replica.requeue(lost)
    job = await rig.job(lost.ref)
    assert (job.state, job.error_code) == (state, code)
    failed = await rig.said(MessageDispatchFailed)
    assert {fact.error_code for fact in failed} == ({ErrorCode.DELIVERY_TIMEOUT} if code else set())


async def test_lost_work_that_may_have_been_sent_is_looked_into_however_late(rig: Rig) -> None:
    await rig.open_lane()
    replica = Replica(rig)
    await replica.start()
    lost = rig.message(due_in=-900, window=14_400)
    await replica.requeue(lost, possibly_sent=True)
    assert (await rig.job(lost.ref)).state == "UNCERTAIN"


async def test_a_job_that_waits_in_a_live_lane_is_not_failed_by_a_late_question(rig: Rig) -> None:
    await rig.open_lane(pacing=PACED)
    replica = Replica(rig)
    await replica.start()
    message = rig.message(window=14_400)
    await replica.take_in(message)
    rig.now.pass_(3_600)
    await replica.requeue(message)
    assert (await rig.job(message.ref)).state == "READY"


async def test_case_34_a_number_that_was_closed_sends_nothing_late_and_no_burst(rig: Rig) -> None:
    """17:30 closed, 18:00 the windows of 200 end, 21:00 open; 20 others have time until midnight."""
    await rig.open_lane(pacing=PACED)
    await rig.observe("loja", ConnectionState.CLOSE, at=rig.now())
    over = await rig.accept(*(rig.message(said=f"m{n}", to=f"55479{n:08}", window=1_800) for n in range(200)))
    later = await rig.accept(*(rig.message(said=f"l{n}", to=f"55478{n:08}", window=21_600) for n in range(20)))
    for _ in range(6):
        rig.now.pass_(600)
        await rig.promote()
        assert await rig.dispatch() == []
        await rig.fail_expired()
    assert await codes(rig) == {ErrorCode.MESSAGE_EXPIRED: 200}
    rig.now.pass_(9_000)
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
    sends = await work_until_nothing_is_left(rig)
    assert len(sends) == len(rig.gateway.sent) == 20
    assert all(after - before >= 6 for before, after in pairwise(sends)), "at the number's pace"
    assert {(await rig.job(ref)).state for ref in over} == {"FAILED"}
    assert {(await rig.job(ref)).state for ref in later} == {"DISPATCHED"}
    assert await codes(rig) == {ErrorCode.MESSAGE_EXPIRED: 200}


async def test_case_34_a_call_under_way_may_end_after_the_window_and_a_retry_may_not_begin(rig: Rig) -> None:
    await rig.open_lane()
    rig.dice = 0.9
    calling, backing_off = await rig.accept(
        *(rig.message(said=text, category=Category.UTILITY, window=60) for text in ("calling", "backing off"))
    )
    claimed = await rig.claim(2)
    attempts = {attempt.ref.message_id: attempt for attempt in claimed.attempts}
    rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE, retry_after_seconds=55))
    await rig.carry_out(attempts[backing_off.message_id], claimed.claimed_at)
    assert (await rig.job(backing_off)).state == "SCHEDULED"
    rig.now.pass_(61)
    await rig.promote()
    assert await rig.dispatch() == []
    await rig.fail_expired()
    assert (await rig.job(backing_off)).error_code == "EXPIRED_AFTER_ATTEMPTS"
    assert (await rig.job(calling)).state == "IN_FLIGHT"
    await rig.carry_out(attempts[calling.message_id], claimed.claimed_at)
    assert (await rig.job(calling)).state == "DISPATCHED"
