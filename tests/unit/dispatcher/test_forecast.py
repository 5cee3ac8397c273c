"""When a waiting message is expected to leave."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.values import Category, ConnectionState, Environment, Pace, PacingPolicy
from dispatcher.domain.fairness import slot_index
from dispatcher.domain.forecast import JobNow, LaneNow, expected_at
from dispatcher.domain.jobs import JobState
from dispatcher.domain.lane_pace import fresh_pace

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


LIVE_UTILITY = slot_index(Environment.LIVE, Category.UTILITY)


def lane(
    *,
    state: ConnectionState = ConnectionState.OPEN,
    paused: bool = False,
    pacing: PacingPolicy | None = None,
    slot: datetime = NOW - SECOND,
    **pace: Any,
) -> LaneNow:
    return LaneNow(
        instance="loja",
        state=state,
        reason=None,
        observed_at=NOW,
        paused=paused,
        in_flight=0,
        max_in_flight=1,
        pacing=pacing or PacingPolicy(),
        pace=replace(fresh_pace(slot), **pace),
    )


def job(
    state: JobState = JobState.READY,
    *,
    category: Category = Category.UTILITY,
    ahead: Mapping[Category, int] | None = None,
    due_at: datetime = NOW,
    cold: bool = False,
) -> JobNow:
    return JobNow(
        state=state,
        environment=Environment.LIVE,
        category=category,
        cold=cold,
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
    no_gap = Pace(min_ms=0, max_ms=0)
    gapless = PacingPolicy(otp=no_gap, utility=no_gap, marketing=no_gap)
    assert expected_at(job(ahead=ahead), lane(pacing=gapless), now=NOW) == NOW


def test_higher_categories_take_all_turns_but_the_minimum_share() -> None:
    crowded = job(category=Category.MARKETING, ahead={Category.OTP: 500, Category.UTILITY: 500})
    assert expected_at(crowded, lane(), now=NOW) == NOW + 9 * 2 * SECOND
    starving = PacingPolicy(min_share=None)
    assert expected_at(crowded, lane(pacing=starving), now=NOW) == NOW + 500 * (2 + 8) * SECOND


def test_a_burst_is_available_after_a_rest() -> None:
    bursting = PacingPolicy(utility=Pace(min_ms=8_000, max_ms=8_000, burst=3))
    ahead = {Category.UTILITY: 2}
    assert expected_at(job(ahead=ahead), lane(pacing=bursting), now=NOW) == NOW
    ahead = {Category.UTILITY: 3}
    assert expected_at(job(ahead=ahead), lane(pacing=bursting), now=NOW) == NOW + 8 * SECOND


def test_a_cap_that_is_used_up_puts_off_what_is_behind_it() -> None:
    capped = PacingPolicy(utility=Pace(min_ms=1_000, max_ms=1_000, per_hour=4))
    spent = tuple(NOW + timedelta(hours=1) if index == LIVE_UTILITY else NOW for index in range(6))
    full = lane(pacing=capped, hour_at=spent)
    assert expected_at(job(), full, now=NOW) == NOW + timedelta(hours=1)
    assert expected_at(job(ahead={Category.UTILITY: 2}), full, now=NOW) == NOW + timedelta(minutes=90)
    assert expected_at(job(category=Category.OTP), full, now=NOW) == NOW


def test_a_first_contact_waits_while_first_contacts_do() -> None:
    later = NOW + timedelta(hours=2)
    assert expected_at(job(cold=True), lane(cold_until=later), now=NOW) == later
    assert expected_at(job(), lane(cold_until=later), now=NOW) == NOW


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
