"""Numbers that cannot send: held once, probed with patience, resumed by themselves."""

import itertools
from datetime import timedelta
from uuid import uuid4

import pytest

from contracts.facts import MessageDeferred, NumberConnectionChanged
from contracts.facts.messages import DeferReason
from contracts.values import ConnectionState
from gateways import port
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused

from .rig import Rig


def disconnected() -> NotSent:
    return NotSent(reason=NotSentReason.DISCONNECTED, detail="Connection Closed")


async def test_a_new_lane_is_probed_at_once_and_opens(rig: Rig) -> None:
    await rig.configure()
    await rig.accept()
    lane = await rig.lane()
    assert (lane.state, lane.probe_at) == ("CONNECTING", rig.now())
    assert await rig.dispatch() == []
    assert await rig.probe() == 1
    [fact] = await rig.said(NumberConnectionChanged)
    assert (fact.instance, fact.state, fact.observed_at) == ("loja", ConnectionState.OPEN, rig.now())
    assert len(await rig.dispatch()) == 1
    assert await rig.probe() == 0


async def test_case_41_a_disconnect_holds_the_lane_and_burns_no_attempts(rig: Rig) -> None:
    await rig.open_lane()
    refs = await rig.accept(*(rig.message(said=f"m{n}") for n in range(50)))
    [first] = (await rig.claim(1)).attempts
    rig.gateway.answers.append(disconnected())
    await rig.carry_out(first)
    job, lane = await rig.job(first.ref), await rig.lane()
    assert (job.state, job.reason) == ("SCHEDULED", "DISCONNECTED"), "it comes back through the same door as all"
    assert (lane.state, lane.state_reason) == ("CLOSE", "DISCONNECTED")
    [change] = await rig.said(NumberConnectionChanged)
    assert (change.state, change.reason) == (ConnectionState.CLOSE, "DISCONNECTED")
    assert [fact.reason for fact in await rig.said(MessageDeferred)] == [DeferReason.NUMBER_CLOSED]
    assert await rig.dispatch() == []
    rig.gateway.state = port.ConnectionState.CLOSE
    for _ in range(8):
        rig.now.pass_(61)
        assert await rig.probe() == 1
        assert await rig.dispatch() == []
    rig.gateway.state = port.ConnectionState.OPEN
    rig.now.pass_(61)
    await rig.probe()
    while await rig.dispatch():
        pass
    jobs = [await rig.job(ref) for ref in refs]
    assert {one.state for one in jobs} == {"DISPATCHED"}
    assert sorted(one.attempt for one in jobs) == [1] * 49 + [2]
    states = [fact.state for fact in await rig.said(NumberConnectionChanged)]
    assert states == [ConnectionState.CLOSE, ConnectionState.OPEN], "said once each"


async def test_probes_back_off_up_to_a_minute(rig: Rig) -> None:
    await rig.configure()
    rig.gateway.is_mute = True
    waits = []
    for _ in range(9):
        await rig.probe()
        lane = await rig.lane()
        waits.append((lane.probe_at - rig.now()).total_seconds())
        rig.now.value = lane.probe_at
    assert waits == sorted(waits)
    assert waits[0] < 1
    assert 30 <= waits[-1] <= 60


async def test_case_41_a_zombie_is_tried_by_one_job_at_growing_intervals_and_reported_once(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(*(rig.message(said=f"m{n}", window=14_400) for n in range(20)))
    rig.gateway.before_answer = lambda _: rig.gateway.answers.append(disconnected())
    assert len(await rig.dispatch(1)) == 1
    sends_at = []
    start = rig.now()
    while rig.now() - start < timedelta(minutes=15):
        await rig.probe()
        if verdicts := await rig.dispatch():
            assert len(verdicts) == 1, "one job tries, the others wait"
            sends_at.append((rig.now() - start).total_seconds())
        rig.now.value = max(rig.now.pass_(0.5), (await rig.lane()).probe_at)
    gaps = [later - earlier for earlier, later in itertools.pairwise(sends_at)]
    assert len(sends_at) < 40
    assert max(gaps) >= 30
    assert [fact.state for fact in await rig.said(NumberConnectionChanged)] == [ConnectionState.CLOSE]
    rig.gateway.before_answer = None
    rig.now.pass_(61)
    await rig.probe()
    assert len(await rig.dispatch()) == 1
    assert (await rig.lane()).state == "OPEN"
    states = [fact.state for fact in await rig.said(NumberConnectionChanged)]
    assert states == [ConnectionState.CLOSE, ConnectionState.OPEN]
    while await rig.dispatch():
        pass
    [left] = await rig.rows("SELECT count(*) AS jobs FROM dispatcher.jobs WHERE state <> 'DISPATCHED'")
    assert left.jobs == 0


async def test_a_webhook_that_says_open_ends_the_hold(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    rig.gateway.answers.append(disconnected())
    await rig.dispatch()
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now() - timedelta(seconds=5))
    assert await rig.dispatch() == [], "older than what we know"
    await rig.observe("loja", ConnectionState.OPEN, at=rig.now() + timedelta(seconds=5))
    assert len(await rig.dispatch()) == 1


async def test_what_we_said_ourselves_changes_nothing_when_it_comes_back(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept()
    rig.gateway.answers.append(disconnected())
    await rig.dispatch()
    before = await rig.lane()
    [own] = await rig.said(NumberConnectionChanged)
    await rig.observe(own.instance, own.state, at=own.observed_at)
    assert await rig.lane() == before


@pytest.mark.parametrize("code", [RefusalCode.INSTANCE_NOT_FOUND, RefusalCode.GATEWAY_AUTH_FAILED])
async def test_a_lane_closed_by_refusal_resumes_when_the_gateway_is_repaired(rig: Rig, code: RefusalCode) -> None:
    await rig.open_lane()
    await rig.accept(*(rig.message(said=f"m{n}") for n in range(3)))
    [attempt] = (await rig.claim(1)).attempts
    rig.gateway.answers.append(Refused(code=code))
    await rig.carry_out(attempt)
    if code is RefusalCode.INSTANCE_NOT_FOUND:
        rig.gateway.state = None
    else:
        rig.gateway.is_mute = True
    for _ in range(10):
        rig.now.pass_(61)
        assert await rig.probe() == 1
        assert await rig.dispatch() == []
    rig.gateway.state, rig.gateway.is_mute = port.ConnectionState.OPEN, False
    rig.now.pass_(61)
    await rig.probe()
    while await rig.dispatch():
        pass
    rows = await rig.rows("SELECT state FROM dispatcher.jobs ORDER BY state")
    assert [row.state for row in rows] == ["DISPATCHED", "DISPATCHED", "FAILED"]
    assert (await rig.lane()).state == "OPEN"


async def test_new_credentials_are_tried_at_once(rig: Rig) -> None:
    await rig.configure()
    rig.gateway.is_mute = True
    for _ in range(6):
        await rig.probe()
        rig.now.value = (await rig.lane()).probe_at
    rig.now.pass_(-1)
    assert await rig.probe() == 0
    await rig.configure(version=2)
    assert await rig.probe() == 1


async def test_a_probe_that_was_overtaken_changes_nothing(rig: Rig) -> None:
    await rig.configure()
    rig.gateway.state = port.ConnectionState.CLOSE
    original = rig.gateway.connection_state

    async def overtaken(access: port.Access) -> port.ConnectionState | None:
        await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
        return await original(access)

    rig.gateway.connection_state = overtaken  # type: ignore[method-assign]
    await rig.probe()
    assert (await rig.lane()).state == "OPEN"


async def test_an_instance_that_moved_to_another_number_still_sends_what_was_accepted_before(rig: Rig) -> None:
    await rig.open_lane()
    message = rig.message()
    earlier = message.model_copy(update={"ref": message.ref.model_copy(update={"number_id": uuid4()})})
    await rig.accept(earlier)
    await rig.dispatch()
    assert (await rig.job(earlier.ref)).state == "DISPATCHED"
