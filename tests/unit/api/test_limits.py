"""Counting: borders of days and months in the tenant's zone, and the first N under a limit."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits.domain import Allowance, Charge, CounterKey, CounterName, charges_of, grant, limit_exceeded
from api.refusals import Refusal
from contracts.ids import uuid7
from contracts.values import Environment

TENANT = uuid7()
PLAN = Allowance(live_monthly=10, live_daily=5, test_daily=2, timezone="America/Sao_Paulo")


def charges_at(now: datetime, environment: Environment = Environment.LIVE, **more: bool) -> dict[CounterName, Charge]:
    found = charges_of(
        PLAN, tenant_id=TENANT, environment=environment, to_profile=more.get("to_profile", False), now=now
    )
    return {charge.key.name: charge for charge in found}


@pytest.mark.parametrize(
    ("now", "day", "month"),
    [
        (datetime(2025, 7, 1, 2, 59, 59, tzinfo=UTC), date(2025, 6, 30), date(2025, 6, 1)),
        (datetime(2025, 7, 1, 3, 0, 0, tzinfo=UTC), date(2025, 7, 1), date(2025, 7, 1)),
        (datetime(2026, 1, 1, 1, 0, 0, tzinfo=UTC), date(2025, 12, 31), date(2025, 12, 1)),
    ],
)
def test_a_month_begins_at_midnight_of_the_tenant(now: datetime, day: date, month: date) -> None:
    charges = charges_at(now)
    assert charges[CounterName.LIVE_DAILY].key.period == day
    assert charges[CounterName.LIVE_MONTHLY].key.period == month


def test_a_limit_resets_at_the_next_midnight_of_the_tenant() -> None:
    charges = charges_at(datetime(2025, 7, 1, 2, 59, 59, tzinfo=UTC))
    assert charges[CounterName.LIVE_DAILY].resets_at == datetime(2025, 7, 1, 3, tzinfo=UTC)
    assert charges[CounterName.LIVE_MONTHLY].resets_at == datetime(2025, 7, 1, 3, tzinfo=UTC)
    later = charges_at(datetime(2025, 12, 31, 12, tzinfo=UTC))
    assert later[CounterName.LIVE_MONTHLY].resets_at == datetime(2026, 1, 1, 3, tzinfo=UTC)


def test_days_of_daylight_saving_are_days_too() -> None:
    plan = Allowance(test_daily=1, timezone="Europe/Lisbon")
    now = datetime(2025, 3, 30, 12, tzinfo=UTC)
    (charge,) = charges_of(plan, tenant_id=TENANT, environment=Environment.TEST, to_profile=False, now=now)
    assert charge.key.period == date(2025, 3, 30)
    assert charge.resets_at == datetime(2025, 3, 30, 23, tzinfo=UTC)


def test_profiles_are_not_counted() -> None:
    now = datetime(2025, 6, 2, tzinfo=UTC)
    assert set(charges_at(now, Environment.TEST)) == {CounterName.TEST_DAILY}
    assert not charges_at(now, Environment.TEST, to_profile=True)


def test_without_plan_nothing_is_counted() -> None:
    now = datetime(2025, 6, 2, tzinfo=UTC)
    for environment in Environment:
        assert not charges_of(Allowance(), tenant_id=TENANT, environment=environment, to_profile=False, now=now)


@given(
    wanted=st.lists(st.sets(st.sampled_from(["a", "b"])), max_size=30),
    limits=st.fixed_dictionaries({"a": st.integers(0, 12), "b": st.integers(0, 12)}),
    before=st.fixed_dictionaries({"a": st.integers(0, 12), "b": st.integers(0, 12)}),
)
def test_the_first_that_fit_pass_and_no_limit_is_passed(
    wanted: list[set[str]], limits: dict[str, int], before: dict[str, int]
) -> None:
    names = {"a": CounterName.LIVE_DAILY, "b": CounterName.LIVE_MONTHLY}
    keys = {name: CounterKey(tenant_id=TENANT, name=names[name], period=date(2025, 6, 1)) for name in names}
    at = datetime(2025, 7, 1, tzinfo=UTC)
    sends = [[Charge(key=keys[name], limit=limits[name], resets_at=at) for name in sorted(some)] for some in wanted]
    granted = grant(sends, {keys[name]: before[name] for name in names})
    left = {name: limits[name] - before[name] for name in names}
    for some, exceeded in zip(wanted, granted.exceeded, strict=True):
        fits = all(left[name] > 0 for name in some)
        assert (exceeded is None) == fits
        if fits:
            for name in some:
                left[name] -= 1
    for name in names:
        passed = sum(
            1 for some, exceeded in zip(wanted, granted.exceeded, strict=True) if name in some and not exceeded
        )
        assert granted.added.get(keys[name], 0) == passed


def test_the_refusal_says_what_and_when() -> None:
    now = datetime(2025, 7, 1, 2, 59, 59, tzinfo=UTC)
    error = limit_exceeded(charges_at(now)[CounterName.LIVE_MONTHLY], now=now)
    assert error.refusal is Refusal.LIVE_MONTHLY_LIMIT_EXCEEDED
    assert error.extras["limit"] == {"name": "LIVE_MONTHLY", "max": 10, "resetsAt": "2025-07-01T03:00:00Z"}
    assert error.quota is not None
    assert error.quota.reset_seconds == error.extras["retryAfterSeconds"] == 2
