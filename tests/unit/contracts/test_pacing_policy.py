"""A pacing policy says for each environment and category what holds, and an old one means what it meant."""

from contracts.values import Category, Environment, EnvironmentPacing, Pace, PacingPolicy


def test_a_policy_written_before_caps_existed_has_none() -> None:
    old = {name: {"min_ms": 1, "max_ms": 2} for name in ("otp", "utility", "marketing")}
    policy = PacingPolicy.model_validate({**old, "max_in_flight": 3})
    for environment in Environment:
        for category in Category:
            assert policy.pace(environment, category) == Pace(min_ms=1, max_ms=2)
    assert policy.otp.burst == 1
    assert (policy.otp.per_hour, policy.otp.per_day, policy.first_contacts_per_day) == (None, None, None)


def test_each_environment_may_differ_in_some_categories() -> None:
    fast, slow = Pace(min_ms=0, max_ms=0), Pace(min_ms=60_000, max_ms=90_000)
    policy = PacingPolicy(test=EnvironmentPacing(utility=fast), live=EnvironmentPacing(marketing=slow))
    different = {(Environment.TEST, Category.UTILITY): fast, (Environment.LIVE, Category.MARKETING): slow}
    everywhere = {
        Category.OTP: policy.otp,
        Category.UTILITY: policy.utility,
        Category.MARKETING: policy.marketing,
    }
    for environment in Environment:
        for category in Category:
            assert policy.pace(environment, category) == different.get((environment, category), everywhere[category])
