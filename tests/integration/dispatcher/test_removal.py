"""A removed number's lane is over: what was never sent fails, what may have been resolves, a restored one goes on."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from contracts.errors import ErrorCode
from contracts.facts import MessageDispatched, MessageDispatchFailed, NumberConnectionChanged, NumberRemoved
from contracts.values import ConnectionState, MessageRef
from dispatcher.domain.jobs import JobState
from dispatcher.usecases import close_lane
from dispatcher.usecases.close_lane import CloseLane, FailWaiting
from dispatcher.usecases.keep_house import ListLanes
from gateways.port import NotSent, NotSentReason, Unknown, UnknownReason

from .rig import NUMBER_ID, Rig

GONE = ErrorCode.NUMBER_NOT_FOUND_REMOVED


async def remove(rig: Rig, *, version: int = 2, number_id: UUID = NUMBER_ID, instance: str = "loja") -> None:
    fact = NumberRemoved(number_id=number_id, instance=instance, version=version, at=rig.now())
    await CloseLane(database=rig.database, wake=lambda: None, clock=rig.now)(fact)


async def fail_waiting(rig: Rig) -> bool:
    return await FailWaiting(database=rig.database, clock=rig.now)()


async def lanes(rig: Rig) -> list[str]:
    return await ListLanes(database=rig.database, clock=rig.now)()


async def failed(rig: Rig) -> dict[UUID, ErrorCode]:
    return {fact.ref.message_id: fact.error_code for fact in await rig.said(MessageDispatchFailed)}


async def state(rig: Rig, ref: MessageRef) -> str:
    return str((await rig.job(ref)).state)


async def test_what_waits_fails_and_nothing_is_sent(rig: Rig) -> None:
    await rig.open_lane()
    [ready], [scheduled] = await rig.accept(), await rig.accept(due_in=3_600)
    await remove(rig)
    assert (await rig.claim()).attempts == []
    assert await fail_waiting(rig) is False
    assert await failed(rig) == {ready.message_id: GONE, scheduled.message_id: GONE}
    for ref in (ready, scheduled):
        job = await rig.job(ref)
        assert (job.state, job.error_code, job.sealed, job.finished_at) == (JobState.FAILED, GONE, None, rig.now())
    rig.now.pass_(3_700)
    assert await rig.dispatch() == []
    assert rig.gateway.sent == []
    assert await fail_waiting(rig) is False
    assert len(await rig.said(MessageDispatchFailed)) == 2, "each is told once"


async def test_other_lanes_are_not_touched(rig: Rig) -> None:
    await rig.open_lane()
    await rig.open_lane("outra")
    await rig.accept()
    [other] = await rig.accept(instance="outra")
    await remove(rig)
    await fail_waiting(rig)
    await rig.dispatch()
    assert await state(rig, other) == JobState.DISPATCHED
    assert other.message_id not in await failed(rig)


async def test_a_message_taken_in_after_the_removal_fails_likewise(rig: Rig) -> None:
    await rig.open_lane()
    await remove(rig)
    [late] = await rig.accept()
    requeued = rig.message()
    await rig.requeue(requeued)
    assert await rig.dispatch() == []
    await fail_waiting(rig)
    assert await failed(rig) == {late.message_id: GONE, requeued.ref.message_id: GONE}


async def test_a_large_backlog_fails_in_chunks(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close_lane, "CHUNK", 3)
    await rig.open_lane()
    await rig.accept(*(rig.message(said=str(number), due_in=number % 2 * 60) for number in range(8)))
    await remove(rig)
    assert [await fail_waiting(rig) for _ in range(3)] == [True, True, False]
    assert set((await failed(rig)).values()) == {GONE}
    assert len(await failed(rig)) == 8


async def test_a_call_under_way_ends_as_calls_do(rig: Rig) -> None:
    await rig.open_lane()
    [taken], [unsent] = await rig.accept(rig.message(said="a")), await rig.accept(rig.message(said="b"))
    claimed = await rig.claim()
    await remove(rig)
    await fail_waiting(rig)
    assert await failed(rig) == {}
    for attempt in claimed.attempts:
        if attempt.ref == unsent:
            rig.gateway.answers.append(NotSent(reason=NotSentReason.UNREACHABLE))
        await rig.carry_out(attempt, claimed.claimed_at)
    await fail_waiting(rig)
    assert [fact.ref for fact in await rig.said(MessageDispatched)] == [taken]
    assert await failed(rig) == {unsent.message_id: GONE}
    assert (await rig.lane()).in_flight == 0


async def test_what_may_have_been_sent_is_resolved_by_its_own_rules(rig: Rig) -> None:
    await rig.open_lane()
    [echoed], [silent] = await rig.accept(rig.message(said="a")), await rig.accept(rig.message(said="b"))
    rig.gateway.answers += [Unknown(reason=UnknownReason.TIMEOUT)] * 2
    await rig.dispatch()
    await remove(rig)
    await fail_waiting(rig)
    assert await failed(rig) == {}
    await rig.echo("3EB0A", said="a")
    assert await state(rig, echoed) == JobState.DISPATCHED
    rig.gateway.is_mute = True
    rig.now.pass_(rig.rules.resolve_within.total_seconds() + 60)
    await rig.resolve()
    await fail_waiting(rig)
    assert await state(rig, silent) == JobState.SCHEDULED, "a resend by policy, which can only run out"
    rig.now.pass_(3_600)
    assert await rig.dispatch() == []
    assert await failed(rig) == {silent.message_id: ErrorCode.UNCONFIRMED}


async def test_it_is_not_probed_whatever_is_observed(rig: Rig) -> None:
    await rig.configure()
    await remove(rig)
    assert await rig.probe() == 0
    await rig.observe("loja", ConnectionState.CLOSE, at=rig.now.pass_(60))
    rig.now.pass_(3_600)
    assert await rig.probe() == 0
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now.pass_(60))
    await rig.accept()
    assert await rig.dispatch() == []


async def test_its_queue_is_consumed_for_a_while_and_then_no_more(rig: Rig) -> None:
    await rig.open_lane()
    await rig.open_lane("outra")
    await remove(rig)
    assert await lanes(rig) == ["loja", "outra"]
    rig.now.pass_(close_lane.DRAIN.total_seconds() + 1)
    assert await lanes(rig) == ["outra"]


async def test_a_restored_number_sends_again(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    await remove(rig)
    await fail_waiting(rig)
    rig.now.pass_(close_lane.DRAIN.total_seconds() + 1)
    await rig.configure(version=3)
    assert await lanes(rig) == ["loja"]
    assert (await rig.lane()).state == ConnectionState.CONNECTING
    assert await rig.probe() == 1, "it is asked for at once"
    assert [fact.state for fact in await rig.said(NumberConnectionChanged)] == [ConnectionState.OPEN]
    [ref] = await rig.accept()
    await rig.dispatch()
    assert await state(rig, ref) == JobState.DISPATCHED
    assert await fail_waiting(rig) is False


@pytest.mark.parametrize("removed_first", [True, False])
async def test_the_newest_version_wins_in_any_order(rig: Rig, removed_first: bool) -> None:
    for step in ("remove", "configure") if removed_first else ("configure", "remove"):
        await (remove(rig, version=2) if step == "remove" else rig.configure(version=1))
    assert (await rig.lane()).removed_at is not None
    await rig.configure(version=2)
    assert (await rig.lane()).removed_at is not None, "a removal of the same version is the later word"
    await rig.configure(version=3)
    await remove(rig, version=2)
    assert (await rig.lane()).removed_at is None


async def test_an_instance_registered_anew_begins_a_new_life(rig: Rig) -> None:
    younger = UUID(int=NUMBER_ID.int + 1)
    await rig.configure(version=5)
    await remove(rig, version=6)
    await remove(rig, version=2, number_id=younger)
    lane = await rig.lane()
    assert (lane.number_id, lane.version) == (younger, 2)
    await rig.configure(version=1)
    await remove(rig, version=9)
    lane = await rig.lane()
    assert (lane.number_id, lane.version, lane.paused) == (younger, 2, True), "the older number is history"
    await remove(rig, instance="nova", version=6, number_id=UUID(int=NUMBER_ID.int - 1))
    await rig.configure("nova", version=1)
    assert (await rig.lane("nova")).removed_at is None


async def test_removal_and_claim_at_once_lose_nothing(rig: Rig) -> None:
    await rig.open_lane()
    refs = await rig.accept(*(rig.message(said=str(number)) for number in range(40)))
    sent = asyncio.gather(*(rig.dispatch(capacity=4) for _ in range(6)))
    await asyncio.gather(sent, remove(rig), fail_waiting(rig))
    while await fail_waiting(rig):
        pass
    told = await failed(rig)
    for ref in refs:
        ended = await state(rig, ref)
        assert ended in (JobState.DISPATCHED, JobState.FAILED)
        assert (ended == JobState.FAILED) == (ref.message_id in told)
    assert len(rig.gateway.sent) + len(told) == len(refs)


async def test_a_lane_removed_long_ago_is_forgotten(rig: Rig) -> None:
    await rig.open_lane()
    await remove(rig)
    await rig.open_lane("outra")
    rig.now.pass_(timedelta(days=8).total_seconds())
    await rig.purge()
    assert [row.instance for row in await rig.rows("SELECT instance FROM dispatcher.lanes")] == ["outra"]
