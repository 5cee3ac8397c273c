"""Numbers of which nothing is ever acknowledged."""

from dataclasses import replace

from contracts.facts import NumberConnectionChanged
from contracts.status import Status
from contracts.values import ConnectionState
from dispatcher.domain.health import HealthRules

from .fleet import alerts, counted, hear, receipt, sample_lanes, send, stranger, watch_silence
from .rig import FAST, Rig

PATIENT = FAST.model_copy(update={"pause_when_unacknowledged": True})


async def test_case_37_nothing_acknowledged_is_noticed_once_and_sending_goes_on(rig: Rig) -> None:
    await rig.open_lane()
    before = alerts("unacknowledged")
    refs = await send(rig, 30)
    await watch_silence(rig)
    assert (await rig.lane()).silent_since is None, "not yet old enough"
    rig.now.pass_(601)
    await watch_silence(rig)
    noticed = rig.now()
    assert (await rig.lane()).silent_since == noticed
    rig.now.pass_(60)
    await watch_silence(rig)
    assert (await rig.lane()).silent_since == noticed
    assert alerts("unacknowledged") == before + 1
    await sample_lanes(rig)
    assert counted("pilot_dispatcher_lanes", condition="unacknowledged") == 1
    assert len(await send(rig, 1, start=900)) == 1
    assert (await rig.lane()).state == "OPEN"
    assert rig.gateway.sent[-1].text == "m900"
    await hear(rig, receipt(refs[-1], Status.DELIVERED, at=rig.now()))
    await watch_silence(rig)
    assert (await rig.lane()).silent_since is None
    await sample_lanes(rig)
    assert counted("pilot_dispatcher_lanes", condition="unacknowledged") == 0


async def test_one_acknowledged_of_the_last_is_no_silence(rig: Rig) -> None:
    await rig.open_lane()
    await send(rig, 39)
    rig.now.pass_(60)
    [newest] = await send(rig, 1, start=39)
    await hear(rig, receipt(newest, Status.SENT, at=rig.now()))
    rig.now.pass_(601)
    await watch_silence(rig)
    assert (await rig.lane()).silent_since is None
    few = HealthRules(silent_sends=29)
    await watch_silence(rig, few)
    assert (await rig.lane()).silent_since is not None


async def test_a_policy_may_close_a_number_of_which_nothing_is_acknowledged(rig: Rig) -> None:
    await rig.open_lane(pacing=PATIENT)
    await send(rig, 30)
    rig.now.pass_(601)
    await watch_silence(rig)
    lane = await rig.lane()
    assert (lane.state, lane.state_reason) == ("CLOSE", "UNACKNOWLEDGED")
    [change] = await rig.said(NumberConnectionChanged)
    assert (change.state, change.reason) == (ConnectionState.CLOSE, "UNACKNOWLEDGED")
    await rig.accept(*(rig.message(to=stranger(n), said=f"later {n}", window=200_000) for n in range(3)))
    rig.now.pass_(60)
    await rig.probe()
    assert await rig.dispatch() == []
    rig.now.pass_(600)
    await rig.probe()
    assert len(await rig.dispatch()) == 1, "one tries"
    await watch_silence(rig)
    assert (await rig.lane()).state == "OPEN", "the same evidence does not count twice"


async def test_many_lanes_are_all_looked_at(rig: Rig) -> None:
    rules = HealthRules(silent_sends=1, silent_of=1)
    names = [f"loja-{n:03}" for n in range(405)]
    for name in names:
        await rig.configure(name)
    for name in (names[0], names[200], names[404]):
        await rig.observe(name, ConnectionState.OPEN, at=rig.now())
        await rig.accept(instance=name)
        await rig.dispatch()
    rig.now.pass_(601)
    await watch_silence(rig, rules)
    rows = await rig.rows("SELECT instance FROM dispatcher.lanes WHERE silent_since IS NOT NULL ORDER BY instance")
    assert [row.instance for row in rows] == [names[0], names[200], names[404]]


async def test_a_lane_that_was_told_to_rest_keeps_its_alert_while_the_rules_change(rig: Rig) -> None:
    """Rules are this process's: another one with stricter rules notices, a laxer one lets it be."""
    await rig.open_lane()
    await send(rig, 5)
    rig.now.pass_(601)
    strict = replace(HealthRules(), silent_sends=5, silent_of=5)
    await watch_silence(rig, strict)
    assert (await rig.lane()).silent_since is not None
    await watch_silence(rig)
    assert (await rig.lane()).silent_since is None
