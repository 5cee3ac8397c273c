"""When a message is expected to leave, as it is told in the 202."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.messages.domain.forecast import Departing, Forecast
from contracts.dispatch_questions import LaneCondition, LaneDepth, LaneDescribed, TenantDepth
from contracts.values import Category, ConnectionState, Environment, Pace, PacingPolicy
from dispatcher.domain.fairness import SLOTS
from dispatcher.domain.forecast import JobNow, LaneNow, expected_at
from dispatcher.domain.jobs import JobState
from dispatcher.domain.lane_pace import LanePace, fresh_pace
from dispatcher.domain.pacing import terms_of
from dispatcher.domain.rates import slot_paces

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ME, CAMPAIGN, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)
OPEN = LaneCondition(
    instance="loja", state=ConnectionState.OPEN, observed_at=NOW, paused=False, in_flight=0, max_in_flight=1
)
RESTED = fresh_pace(NOW - SECOND)
MESSAGE = Departing(tenant_id=ME, environment=Environment.LIVE, category=Category.UTILITY, urgent=False, deliver_by=NOW)


def described(
    ready: Mapping[Category, int] | None = None,
    *,
    urgent: Mapping[Category, int] | None = None,
    tenants: Mapping[UUID, int] | None = None,
    pacing: PacingPolicy | None = None,
    pace: LanePace = RESTED,
    **more: Any,
) -> LaneDescribed:
    """An open lane that rests by the default policy: gaps of 2, 8 and 38 s on average."""
    policy, ready, urgent = pacing or PacingPolicy(), ready or {}, urgent or {}
    depths = (
        LaneDepth(
            category=category,
            ready=ready.get(category, 0),
            urgent=urgent.get(category, 0),
            scheduled=0,
            next_slot_at=NOW,
        )
        for category in Category
    )
    known = (TenantDepth(tenant_id=tenant_id, ready=count) for tenant_id, count in (tenants or {}).items())
    values: dict[str, Any] = {
        "lane": OPEN,
        "depths": tuple(depths),
        "tenants": tuple(known),
        "paces": slot_paces(pace, terms_of(policy)),
        "min_share": policy.min_share,
        **more,
    }
    return LaneDescribed(**values)


def expected(lane: LaneDescribed, *, after_seconds: float = 0, **message: Any) -> datetime | None:
    forecast = Forecast(lane, taken_at=NOW)
    return forecast.expected_at(replace(MESSAGE, **message), now=NOW + after_seconds * SECOND)


def test_over_an_idle_lane_it_leaves_at_once() -> None:
    assert expected(described()) == NOW
    assert expected(described(), after_seconds=3) == NOW + 3 * SECOND


def test_after_a_send_it_waits_for_the_next_slot() -> None:
    assert expected(described(pace=fresh_pace(NOW + 5 * SECOND))) == NOW + 5 * SECOND


def test_a_hundred_ahead_are_a_hundred_mean_gaps() -> None:
    assert expected(described({Category.UTILITY: 100})) == NOW + 100 * 8 * SECOND
    assert expected(described({Category.UTILITY: 100}, tenants={ME: 100})) == NOW + 100 * 8 * SECOND


def test_an_otp_does_not_wait_for_a_campaign() -> None:
    lane = described({Category.MARKETING: 5_000}, tenants={ME: 5_000})
    assert expected(lane, category=Category.OTP) == NOW
    assert expected(lane, category=Category.MARKETING) == NOW + 5_000 * 38 * SECOND


def test_higher_categories_pause_it_for_the_shorter_gap_and_only_so_many_before_its_turn() -> None:
    assert expected(described({Category.OTP: 3})) == NOW + 3 * 2 * SECOND
    assert expected(described({Category.OTP: 100})) == NOW + 9 * 2 * SECOND
    assert expected(described({Category.OTP: 100}, min_share=None)) == NOW + 100 * 2 * SECOND


def test_an_urgent_one_passes_the_others_of_its_category() -> None:
    lane = described({Category.UTILITY: 50}, urgent={Category.UTILITY: 2})
    assert expected(lane, urgent=True) == NOW + 2 * 8 * SECOND
    assert expected(lane) == NOW + 50 * 8 * SECOND


def test_tenants_take_turns() -> None:
    lane = described({Category.UTILITY: 1_002}, tenants={CAMPAIGN: 1_000, ME: 2})
    assert expected(lane) == NOW + 4 * 8 * SECOND, "its own two, and two of the other's"
    assert expected(lane, tenant_id=CAMPAIGN) == NOW + 1_002 * 8 * SECOND
    assert expected(lane, tenant_id=OTHER) == NOW, "nothing of it waits"


def test_who_is_not_named_may_have_as_many_as_the_last_who_is() -> None:
    lane = described({Category.UTILITY: 110}, tenants={CAMPAIGN: 100, ME: 4})
    assert expected(lane, tenant_id=OTHER) == NOW + (4 + 2 + 4 + 4) * 8 * SECOND


def test_caps_count_its_own_category_only() -> None:
    capped = PacingPolicy(utility=Pace(min_ms=6_000, max_ms=10_000, per_hour=9))
    hour = timedelta(hours=1) / 9
    assert expected(described({Category.OTP: 100}, pacing=capped)) == NOW + 9 * 2 * SECOND
    assert expected(described({Category.UTILITY: 3}, pacing=capped)) == NOW + 3 * hour


def test_its_time_is_never_before_it_may_leave() -> None:
    later = NOW + timedelta(hours=2)
    assert expected(described({Category.UTILITY: 100}), deliver_by=later) == later
    assert expected(described({Category.UTILITY: 9_000}), deliver_by=later) == NOW + 9_000 * 8 * SECOND


@pytest.mark.parametrize(
    "lane",
    [
        LaneDescribed(),
        described(lane=OPEN.model_copy(update={"paused": True})),
        described(lane=OPEN.model_copy(update={"state": ConnectionState.CLOSE})),
        described(lane=OPEN.model_copy(update={"state": ConnectionState.CONNECTING})),
        described(paces=()),
    ],
    ids=["unknown", "paused", "closed", "connecting", "of a dispatcher that does not tell its paces"],
)
def test_of_a_lane_that_cannot_send_nobody_can_tell(lane: LaneDescribed) -> None:
    assert expected(lane) is None


def test_what_is_old_is_not_believed() -> None:
    assert expected(described(), after_seconds=60) == NOW + 60 * SECOND
    assert expected(described(), after_seconds=60.001) is None


def test_what_was_accepted_since_is_ahead() -> None:
    forecast = Forecast(described({Category.UTILITY: 2}), taken_at=NOW)
    waits = []
    for _ in range(3):
        at = forecast.expected_at(MESSAGE, now=NOW)
        assert at is not None
        waits.append((at - NOW) / SECOND)
        forecast.admit(MESSAGE, now=NOW)
    assert waits == [16, 24, 32]
    assert forecast.expected_at(replace(MESSAGE, tenant_id=OTHER), now=NOW) == NOW + 5 * 8 * SECOND
    assert forecast.expected_at(replace(MESSAGE, category=Category.OTP), now=NOW) == NOW


def test_what_is_to_leave_another_day_is_not_ahead() -> None:
    forecast = Forecast(described(), taken_at=NOW)
    forecast.admit(replace(MESSAGE, deliver_by=NOW + SECOND), now=NOW)
    assert forecast.expected_at(MESSAGE, now=NOW) == NOW
    forecast.admit(replace(MESSAGE, urgent=True), now=NOW)
    assert forecast.expected_at(MESSAGE, now=NOW) == NOW + 8 * SECOND


counts = st.dictionaries(st.sampled_from(Category), st.integers(0, 10_000))
instants = st.integers(-3_600, 3_600).map(lambda seconds: NOW + seconds * SECOND)
paces = st.builds(
    Pace,
    min_ms=st.integers(0, 60_000),
    max_ms=st.integers(0, 60_000),
    burst=st.integers(1, 20),
    per_hour=st.none() | st.integers(1, 1_000),
    per_day=st.none() | st.integers(1, 10_000),
)
policies = st.builds(PacingPolicy, otp=paces, utility=paces, marketing=paces, min_share=st.none() | st.integers(2, 20))
spent = st.tuples(*[instants] * SLOTS)


@given(
    category=st.sampled_from(Category),
    environment=st.sampled_from(Environment),
    ready=counts,
    pacing=policies,
    pace=st.builds(LanePace, gap_at=spent, hour_at=spent, day_at=spent, cold_at=st.just(NOW)),
)
def test_it_says_what_the_dispatcher_would_explain(
    category: Category,
    environment: Environment,
    ready: dict[Category, int],
    pacing: PacingPolicy,
    pace: LanePace,
) -> None:
    lane = LaneNow(
        instance="loja",
        state=ConnectionState.OPEN,
        reason=None,
        observed_at=NOW,
        paused=False,
        in_flight=0,
        max_in_flight=1,
        pacing=pacing,
        pace=pace,
    )
    order = (Category.OTP, Category.UTILITY, Category.MARKETING)
    job = JobNow(
        state=JobState.READY,
        environment=environment,
        category=category,
        attempt=0,
        due_at=NOW,
        deliver_until=NOW + SECOND,
        reason=None,
        resolve_by=None,
        ahead={one: ready.get(one, 0) for one in order[: order.index(category) + 1]},
    )
    told = expected(described(ready, pacing=pacing, pace=pace), environment=environment, category=category)
    explained = expected_at(job, lane, now=NOW)
    assert told is not None
    assert explained is not None
    assert abs(told - explained) < timedelta(milliseconds=1)
