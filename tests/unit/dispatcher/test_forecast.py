"""When a waiting message is expected to leave."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from contracts.values import Category, ConnectionState, PacingPolicy
from dispatcher.domain.forecast import JobNow, LaneNow, expected_at
from dispatcher.domain.jobs import JobState

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def lane(
    *,
    state: ConnectionState = ConnectionState.OPEN,
    paused: bool = False,
    gapless: bool = False,
    slot: datetime = NOW - SECOND,
) -> LaneNow:
    return LaneNow(
        instance="loja",
        state=state,
        reason=None,
        observed_at=NOW,
        paused=paused,
        in_flight=0,
        max_in_flight=1,
        gapless=gapless,
        pacing=PacingPolicy(),
        slots=dict.fromkeys(Category, slot),
    )


def job(
    state: JobState = JobState.READY,
    *,
    category: Category = Category.UTILITY,
    ahead: Mapping[Category, int] | None = None,
    due_at: datetime = NOW,
) -> JobNow:
    return JobNow(
        state=state,
        category=category,
        attempt=0,
        due_at=due_at,
        deliver_until=NOW + timedelta(hours=1),
        reason=None,
        resolve_by=None,
        ahead=ahead or {},
    )


def test_the_next_one_leaves_at_the_next_slot() -> None:
    assert expected_at(job(), lane(), now=NOW) == NOW
    assert expected_at(job(), lane(slot=NOW + 5 * SECOND), now=NOW) == NOW + 5 * SECOND


def test_each_message_ahead_costs_the_shorter_of_the_two_gaps() -> None:
    ahead = {Category.OTP: 3, Category.UTILITY: 2}
    assert expected_at(job(ahead=ahead), lane(), now=NOW) == NOW + (3 * 2 + 2 * 8) * SECOND
    ad = job(category=Category.MARKETING, ahead={**ahead, Category.MARKETING: 1})
    assert expected_at(ad, lane(), now=NOW) == NOW + (3 * 2 + 2 * 8 + 38) * SECOND
    assert expected_at(job(ahead=ahead), lane(gapless=True), now=NOW) == NOW


def test_a_scheduled_message_leaves_at_its_time_or_the_slot_after_it() -> None:
    due_at = NOW + 60 * SECOND
    assert expected_at(job(JobState.SCHEDULED, due_at=due_at), lane(), now=NOW) == due_at
    assert (
        expected_at(job(JobState.SCHEDULED, due_at=due_at), lane(slot=NOW + 90 * SECOND), now=NOW) == NOW + 90 * SECOND
    )


@pytest.mark.parametrize(
    "condition",
    [None, lane(paused=True), lane(state=ConnectionState.CLOSE), lane(state=ConnectionState.CONNECTING)],
)
def test_nothing_is_promised_for_a_number_that_cannot_send(condition: LaneNow | None) -> None:
    for state in (JobState.READY, JobState.SCHEDULED):
        assert expected_at(job(state), condition, now=NOW) is None


@pytest.mark.parametrize("state", set(JobState) - {JobState.READY, JobState.SCHEDULED})
def test_nothing_is_promised_for_what_does_not_wait_for_its_turn(state: JobState) -> None:
    assert expected_at(job(state), lane(), now=NOW) is None
