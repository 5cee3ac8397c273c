"""Numbers that are refused, that fail although all looks open, that flap, that rest: nobody else's message pays."""

from datetime import timedelta
from itertools import pairwise

import pytest

from contracts.dispatch_questions import DescribeLane
from contracts.facts import NumberConnectionChanged
from contracts.status import Status
from contracts.values import ConnectionState
from dispatcher.usecases.explain_message import DescribeNumber
from gateways import port
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused

from .fleet import alerts, counted, hear, receipt, sample_lanes, send, stranger, watch_silence
from .rig import FAST, Rig


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (RefusalCode.GATEWAY_AUTH_FAILED, "gateway_auth_failed"),
        (RefusalCode.INSTANCE_NOT_FOUND, "instance_not_found"),
    ],
)
async def test_case_40_a_refused_number_closes_with_an_alert_and_the_others_wait(
    rig: Rig, code: RefusalCode, kind: str
) -> None:
    await rig.open_lane()
    before = alerts(kind)
    refs = await rig.accept(*(rig.message(said=f"m{n}") for n in range(5)))
    rig.gateway.answers.append(Refused(code=code))
    await rig.dispatch(1)
    assert alerts(kind) == before + 1
    assert (await rig.lane()).state == "CLOSE"
    assert await rig.dispatch() == []
    states = sorted([(await rig.job(ref)).state for ref in refs])
    assert states == ["FAILED", *["READY"] * 4]


async def test_case_41_sends_that_fail_although_all_looks_open_are_an_alert(rig: Rig) -> None:
    await rig.open_lane()
    before = alerts("sends_fail")
    await rig.accept(*(rig.message(said=f"m{n}", window=14_400) for n in range(50)))
    rig.gateway.before_answer = lambda _: rig.gateway.answers.append(NotSent(reason=NotSentReason.DISCONNECTED))
    await rig.dispatch(1)
    assert alerts("sends_fail") == before
    rig.now.pass_(61)
    await rig.probe()
    assert len(await rig.dispatch()) == 1
    assert alerts("sends_fail") == before + 1
    await sample_lanes(rig)
    assert counted("pilot_dispatcher_lanes", condition="sends_fail") == 1
    rows = await rig.rows("SELECT count(*) AS jobs FROM dispatcher.jobs WHERE attempt > 0")
    assert rows[0].jobs <= 2, "the others burnt nothing"


async def test_case_40_an_instance_that_is_not_ready_is_not_a_bad_number(rig: Rig) -> None:
    """The TypeError texts: held like a disconnect, and sent once it is there."""
    await rig.open_lane()
    [ref] = await rig.accept()
    rig.gateway.answers.append(NotSent(reason=NotSentReason.INSTANCE_NOT_READY, detail="TypeError: onWhatsApp"))
    await rig.dispatch()
    assert (await rig.lane()).state == "CLOSE"
    assert (await rig.job(ref)).state in ("SCHEDULED", "READY")
    rig.gateway.state = port.ConnectionState.CONNECTING
    rig.now.pass_(61)
    await rig.probe()
    rig.gateway.state = port.ConnectionState.OPEN
    rig.now.pass_(61)
    await rig.probe()
    await rig.dispatch()
    assert (await rig.job(ref)).state == "DISPATCHED"


async def test_a_number_that_flaps_is_told_of_once_per_change_and_sends_when_it_can(rig: Rig) -> None:
    await rig.open_lane()
    await rig.accept(*(rig.message(said=f"m{n}") for n in range(4)))
    for turn in range(3):
        rig.now.pass_(10)
        await rig.observe("loja", ConnectionState.CLOSE, at=rig.now())
        assert await rig.dispatch(1) == []
        rig.now.pass_(1)
        await rig.observe("loja", ConnectionState.CONNECTING, at=rig.now())
        await rig.observe("loja", ConnectionState.OPEN, at=rig.now() - timedelta(seconds=1))
        assert await rig.dispatch(1) == [], "an older observation changes nothing"
        rig.now.pass_(1)
        await rig.observe("loja", ConnectionState.OPEN, at=rig.now())
        assert len(await rig.dispatch(1)) == 1, turn
    assert await rig.said(NumberConnectionChanged) == [], "whoever saw it told it"


async def test_paused_nothing_is_claimed_at_once_and_resumed_there_is_no_burst(rig: Rig) -> None:
    paced = FAST.model_copy(update={"utility": FAST.utility.model_copy(update={"min_ms": 6_000, "max_ms": 6_000})})
    await rig.open_lane(pacing=paced)
    await rig.accept(*(rig.message(said=f"m{n}", window=14_400) for n in range(10)))
    assert len(await rig.dispatch()) == 1
    await rig.configure(pacing=paced, version=2, paused=True)
    rig.now.pass_(600)
    assert await rig.dispatch() == []
    await rig.configure(pacing=paced, version=1, paused=False)
    assert await rig.dispatch() == [], "an older configuration changes nothing"
    await rig.configure(pacing=paced, version=3, paused=False)
    sends: list[float] = []
    start = rig.now()
    while len(sends) < 5:
        sends += [(rig.now() - start).total_seconds()] * len(await rig.dispatch())
        rig.now.pass_(1)
    assert all(after - before >= 5 for before, after in pairwise(sends)), sends


async def test_what_is_wrong_with_a_number_is_part_of_its_description(rig: Rig) -> None:
    describe, asked = DescribeNumber(database=rig.database, clock=rig.now), DescribeLane(instance="loja")
    await rig.open_lane()
    refs = await send(rig, 30)
    lane = (await describe(asked)).lane
    assert lane is not None
    assert (lane.sends_fail, lane.next_probe_at) == (False, None)
    assert (lane.first_contacts_held_until, lane.unacknowledged_since) == (None, None)
    rig.now.pass_(601)
    await watch_silence(rig)
    noticed = rig.now()
    await hear(rig, *(receipt(ref, Status.FAILED, at=rig.now()) for ref in refs[:3]))
    [known] = await rig.accept(to=stranger(29), said="to a friend", window=90_000)
    rig.gateway.answers.append(NotSent(reason=NotSentReason.DISCONNECTED))
    await rig.dispatch()
    lane = (await describe(asked)).lane
    assert lane is not None
    assert (lane.state, lane.reason, lane.sends_fail) == (ConnectionState.CLOSE, "DISCONNECTED", True)
    assert lane.next_probe_at is not None
    assert lane.unacknowledged_since == noticed
    assert lane.first_contacts_held_until == noticed + timedelta(hours=24)
    assert (await rig.job(known)).state == "SCHEDULED"
    rig.now.pass_(86_401)
    lane = (await describe(asked)).lane
    assert lane is not None
    assert lane.first_contacts_held_until is None
