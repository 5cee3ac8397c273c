"""Case 35: Postgres owns the schedule; the broker is only how a message came, however far away its time is."""

from collections.abc import Awaitable, Callable

import pytest

from contracts.dispatch_questions import CancelMessages
from contracts.facts import MessageDispatched
from contracts.values import MessageRef
from dispatcher.domain.jobs import JobState
from dispatcher.usecases.cancel_messages import CancelJobs

from .rig import PACED, Rig

MINUTE, DAY = 60, 86_400
BROKER_TIMER_MAX_SECONDS = 4_294_967.295
"""2³² − 1 ms, 49.7 days: a delay of a broker's timer that is longer wraps around and ends at once."""


async def left(rig: Rig) -> list[MessageRef]:
    """What has left so far, in its order, after everything is done that can be done now."""
    await rig.dispatch()
    return [fact.ref for fact in await rig.said(MessageDispatched)]


async def test_case_35_fifty_days_are_fifty_days(rig: Rig) -> None:
    await rig.open_lane()
    [ref] = await rig.accept(due_in=50 * DAY)
    assert await left(rig) == [], "not at once"
    rig.now.pass_(50 * DAY - BROKER_TIMER_MAX_SECONDS)
    assert await left(rig) == [], "not after what is left of it once a timer has wrapped around"
    rig.now.pass_(BROKER_TIMER_MAX_SECONDS - 1)
    assert await left(rig) == []
    claimed = await rig.claim()
    assert claimed.seconds_until_work == pytest.approx(1)
    rig.now.pass_(1)
    assert await left(rig) == [ref]


@pytest.mark.parametrize("sooner_first", [True, False])
@pytest.mark.parametrize("together", [True, False])
async def test_case_35_the_sooner_one_leaves_first_whatever_came_first(
    rig: Rig, sooner_first: bool, together: bool
) -> None:
    await rig.open_lane()
    sooner, later = rig.message(due_in=MINUTE, said="sooner"), rig.message(due_in=10 * MINUTE, said="later")
    order = [sooner, later] if sooner_first else [later, sooner]
    for batch in [order] if together else [[one] for one in order]:
        await rig.accept(*batch)
    assert await left(rig) == []
    rig.now.pass_(MINUTE)
    assert await left(rig) == [sooner.ref]
    rig.now.pass_(9 * MINUTE)
    assert await left(rig) == [sooner.ref, later.ref]


async def test_case_35_what_falls_due_while_the_broker_is_away_leaves_at_its_time_and_once(
    build: Callable[..., Awaitable[Rig]],
) -> None:
    before, after = await build(), await build()
    await before.open_lane()
    message = before.message(due_in=MINUTE)
    await before.accept(message)
    before.now.pass_(MINUTE)
    assert await left(after) == [message.ref], "another process, to which the broker never said anything"
    await after.accept(message)
    assert await left(after) == [message.ref], "what was not acknowledged comes again when the broker is back"
    assert len(before.gateway.sent) == 1


@pytest.mark.parametrize("waited", [0, 5 * MINUTE, 10 * MINUTE], ids=["soon", "before its time", "waiting its turn"])
async def test_case_35_a_cancel_is_honoured_after_it_was_queued(rig: Rig, waited: float) -> None:
    await rig.open_lane(pacing=PACED)
    going, [ref] = rig.message(due_in=10 * MINUTE, urgent=True), await rig.accept(due_in=10 * MINUTE)
    await rig.accept(going)
    rig.now.pass_(waited)
    assert await left(rig) == ([going.ref] if waited == 10 * MINUTE else [])
    answer = await CancelJobs(database=rig.database, clock=rig.now)(CancelMessages(refs=(ref,)))
    assert [one.message_id for one in answer.canceled] == [ref.message_id]
    rig.now.pass_(20 * MINUTE)
    assert await left(rig) == [going.ref]
    assert (await rig.job(ref)).state == JobState.CANCELED
