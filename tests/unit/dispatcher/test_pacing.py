"""Gaps, bursts and caps hold for any demand and any lateness of the looks, and the asked rate is really got."""

from dataclasses import replace
from datetime import timedelta
from itertools import repeat
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.values import Category, Environment, EnvironmentPacing, Pace, PacingPolicy
from dispatcher.domain.fairness import slot_index
from dispatcher.domain.lane_pace import fresh_pace, opens_at, reopened
from dispatcher.domain.pacing import DAY, HOUR, terms_of

from .turning import MARKETING, MILLISECOND, NOW, OTP, SECOND, STEADY, UTILITY, Lane, Sent, fullest, gapless, gaps

LIVE, TEST = Environment.LIVE, Environment.TEST
FOREVER = NOW + timedelta(days=30)


@settings(deadline=None, max_examples=40)
@given(
    cap=st.integers(1, 45),
    bursts=st.lists(st.tuples(st.integers(0, 8_000), st.integers(1, 40)), min_size=1, max_size=6),
    late_ms=st.integers(0, 5_000),
    dice=st.floats(0, 0.999),
)
@pytest.mark.parametrize(("name", "window"), [("per_hour", HOUR), ("per_day", DAY)])
def test_a_cap_holds_in_every_window_whatever_is_asked(
    name: str, window: timedelta, cap: int, bursts: list[tuple[int, int]], late_ms: int, dice: float
) -> None:
    pace = {"min_ms": 0, "max_ms": 2_000, "burst": 5, name: cap}
    lane = Lane(policy=gapless(utility=pace), room=3, dice=lambda: dice)
    sent: list[Sent] = []
    now = NOW
    for seconds, count in bursts:
        lane.push(UTILITY, count=count, at=now)
        until = now + seconds * SECOND
        sent += lane.run(begin=now, until=until, lateness=lambda: late_ms * MILLISECOND)
        now = max(until, sent[-1].at if sent else now)
    sent += lane.run(begin=now, until=FOREVER + window * 300)
    assert len(sent) == sum(count for _, count in bursts)
    assert fullest(sent, window) <= cap


@pytest.mark.parametrize("cap", [1, 7, 10, 60, 1_000])
def test_a_cap_is_nearly_used_up_and_evenly(cap: int) -> None:
    lane = Lane(policy=gapless(utility={"min_ms": 0, "max_ms": 0, "per_hour": cap}), room=100)
    lane.push(UTILITY, count=3 * cap)
    sent = lane.run(until=NOW + 3 * HOUR)
    ahead = cap // 10
    assert 3 * (cap - ahead) <= len(sent) <= 3 * cap
    assert fullest(sent, HOUR) <= cap
    assert max(gaps(sent)) <= HOUR / (cap - ahead) + MILLISECOND


def test_first_contacts_have_a_budget_of_any_day() -> None:
    lane = Lane(policy=gapless(first_contacts_per_day=50), room=100)
    for category in Category:
        lane.push(category, count=40, cold=True)
    sent = lane.run(until=NOW + 5 * DAY)
    assert len(sent) == 120
    assert 45 <= fullest(sent, DAY) <= 50


def test_caps_are_counted_for_each_environment_and_category_alone() -> None:
    lane = Lane(policy=gapless(utility={"min_ms": 0, "max_ms": 0, "per_hour": 1}), room=10)
    for environment in Environment:
        lane.push(UTILITY, count=2, environment=environment)
    lane.push(OTP, count=2)
    assert len(lane.turn(NOW).picks) == 4


PACES = st.builds(Pace, min_ms=st.integers(0, 4_000), max_ms=st.integers(0, 4_000))


@settings(deadline=None, max_examples=60)
@given(
    policy=st.builds(PacingPolicy, otp=PACES, utility=PACES, marketing=PACES),
    order=st.lists(st.tuples(st.sampled_from(Category), st.sampled_from(Environment)), min_size=2, max_size=30),
    seed=st.integers(0, 10_000),
)
def test_no_gap_is_shorter_than_its_minimum_less_the_catch_up(
    policy: PacingPolicy, order: list[tuple[Category, Environment]], seed: int
) -> None:
    """Between two of a kind its own minimum holds, between two kinds the smaller of theirs."""
    random = Random(seed)
    lane = Lane(policy=policy, dice=random.random)
    for category, environment in order:
        lane.push(category, environment=environment)
    sent = lane.run(lateness=lambda: random.random() * SECOND)
    assert len(sent) == len(order)
    slots = [terms_of(policy).slots[slot_index(one.head.environment, one.head.category)] for one in sent]
    for later in range(len(sent)):
        for earlier in range(later):
            pair = slots[earlier], slots[later]
            allowed = min(slot.gap_min for slot in pair) - min(slot.catch_up for slot in pair)
            assert sent[later].at - sent[earlier].at >= allowed
            if pair[0] is pair[1]:
                assert sent[later].at - sent[earlier].at >= pair[0].gap_min - pair[0].catch_up


@pytest.mark.parametrize("mix", [[UTILITY], list(Category)])
@pytest.mark.parametrize("seed", range(5))
def test_the_asked_rate_is_got_although_looks_are_late(mix: list[Category], seed: int) -> None:
    pace = Pace(min_ms=50, max_ms=50)
    lane = Lane(policy=PacingPolicy(otp=pace, utility=pace, marketing=pace))
    random = Random(seed)
    for category in mix:
        lane.push(category, count=600)
    sent = lane.run(sends=600, lateness=lambda: random.random() * 20 * MILLISECOND)
    between = gaps(sent)
    mean = sum(between, timedelta(0)) / len(between)
    assert 1 / mean.total_seconds() >= 19
    assert max(between) < 3 * mean
    assert min(between) >= 25 * MILLISECOND


def test_a_message_that_comes_late_itself_is_no_reason_to_hurry() -> None:
    lane = Lane()
    lane.push(OTP)
    lane.turn(NOW)
    lane.push(OTP, count=2, at=NOW + 60 * SECOND)
    sent = lane.run(sends=2, begin=NOW + 60 * SECOND)
    assert gaps(sent) == [SECOND]


def test_a_send_pauses_the_others_for_the_shorter_of_two_gaps() -> None:
    for first, second, pause in ((MARKETING, OTP, 1), (OTP, MARKETING, 1), (UTILITY, MARKETING, 5)):
        lane = Lane()
        lane.push(first)
        lane.turn(NOW)
        lane.push(second)
        assert lane.run()[0].at == NOW + pause * SECOND


def test_what_one_category_catches_up_is_not_taken_from_the_smaller_gap_of_another() -> None:
    late = 250 * MILLISECOND
    lane = Lane(policy=STEADY.model_copy(update={"utility": Pace(min_ms=100, max_ms=100)}))
    lane.push(OTP)
    lane.push(UTILITY)
    first, second = lane.run(lateness=iter([late, *[timedelta(0)] * 9]).__next__)
    assert (first.head.category, second.head.category) == (OTP, UTILITY)
    assert second.at - first.at == 50 * MILLISECOND


def test_jitter_draws_one_gap_per_send_between_the_bounds() -> None:
    for dice, seconds in ((0.0, 6.0), (0.25, 7.0), (0.5, 8.0)):
        lane = Lane(policy=PacingPolicy(), dice=repeat(dice).__next__)
        lane.push(UTILITY, count=2)
        lane.turn(NOW)
        lane.turn(NOW)
        assert opens_at(lane.pace, lane.terms, LIVE, UTILITY, cold=False) == NOW + timedelta(seconds=seconds)


def test_a_burst_follows_a_rest_and_only_a_rest() -> None:
    pace = Pace(min_ms=1_000, max_ms=1_000, burst=3)
    lane = Lane(policy=STEADY.model_copy(update={"otp": pace}), room=10)
    lane.pace = fresh_pace(NOW - HOUR)
    lane.push(OTP, count=10)
    sent = lane.run()
    assert [one.at - NOW for one in sent] == [0 * SECOND] * 3 + [n * SECOND for n in range(1, 8)]


def test_a_reopened_lane_bursts_nothing() -> None:
    pace = Pace(min_ms=1_000, max_ms=1_000, burst=3)
    policy = STEADY.model_copy(update={"otp": pace, "test": EnvironmentPacing(otp=pace)})
    lane = Lane(policy=policy, room=10)
    now = NOW + DAY
    lane.push(OTP, count=50)
    lane.pace = reopened(lane.pace, lane.terms, now)
    sent = lane.run(begin=now, until=now + 20 * SECOND)
    assert [one.at - now for one in sent] == [n * SECOND for n in range(20)]
    assert reopened(lane.pace, lane.terms, now) == lane.pace


def test_an_environment_may_have_a_pace_of_its_own() -> None:
    policy = STEADY.model_copy(update={"test": EnvironmentPacing(utility=Pace(min_ms=100, max_ms=100))})
    lane = Lane(policy=policy)
    lane.push(UTILITY, count=3, environment=TEST)
    assert gaps(lane.run()) == [100 * MILLISECOND] * 2
    lane = Lane(policy=policy)
    lane.push(UTILITY, count=3, environment=LIVE)
    assert gaps(lane.run()) == [5 * SECOND] * 2
    assert policy.pace(TEST, OTP) == policy.pace(LIVE, OTP) == STEADY.otp


def test_opening_is_the_latest_of_gap_caps_and_first_contacts() -> None:
    policy = STEADY.model_copy(
        update={"utility": Pace(min_ms=5_000, max_ms=5_000, per_hour=1), "first_contacts_per_day": 1}
    )
    terms, pace = terms_of(policy), fresh_pace(NOW)
    assert opens_at(pace, terms, LIVE, UTILITY, cold=True) == NOW
    slot = slot_index(LIVE, UTILITY)
    after = replace(
        pace,
        gap_at=tuple(at + 5 * SECOND if index == slot else at for index, at in enumerate(pace.gap_at)),
        hour_at=tuple(at + HOUR if index == slot else at for index, at in enumerate(pace.hour_at)),
        cold_at=NOW + DAY,
    )
    assert opens_at(after, terms, LIVE, UTILITY, cold=False) == NOW + HOUR
    assert opens_at(after, terms, LIVE, UTILITY, cold=True) == NOW + DAY
    assert opens_at(after, terms, LIVE, OTP, cold=False) == NOW
    held = replace(after, cold_until=NOW + 2 * DAY)
    assert opens_at(held, terms, LIVE, OTP, cold=True) == NOW + 2 * DAY
    assert opens_at(held, terms_of(STEADY), LIVE, OTP, cold=True) == NOW + 2 * DAY
