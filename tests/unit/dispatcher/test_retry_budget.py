"""Second tries are paid for by what a gateway answers well: an outage is not multiplied, and its end is noticed."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dispatcher.domain.retry_budget import TOKENS_AT_FIRST, TOKENS_MAX, TOKENS_PER_SECOND, RetryBudget
from dispatcher.usecases.retry_budgets import GATEWAYS_MAX, RetryBudgets
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

DOWN = NotSent(reason=NotSentReason.UNREACHABLE)
GATEWAY, OTHER = "http://gateway", "http://other"


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def made(budgets: RetryBudgets, count: int, answer: Answer, *, base_url: str = GATEWAY) -> int:
    """How many of `count` second tries were made, each answered alike."""
    allowed = 0
    for _ in range(count):
        if budgets.allows(base_url, is_retry=True):
            budgets.learn(base_url, answer, is_retry=True)
            allowed += 1
    return allowed


def test_an_outage_is_not_multiplied() -> None:
    clock = Clock()
    budgets = RetryBudgets(monotonic=clock)
    assert made(budgets, 1_000, DOWN) == TOKENS_AT_FIRST
    clock.now = 60.0
    assert made(budgets, 1_000, DOWN) == 60 * TOKENS_PER_SECOND


def test_a_first_try_is_never_blocked_and_costs_nothing() -> None:
    budgets = RetryBudgets(monotonic=Clock())
    made(budgets, 1_000, DOWN)
    assert all(budgets.allows(GATEWAY, is_retry=False) for _ in range(1_000))


def test_each_success_pays_for_a_tenth_of_a_second_try() -> None:
    budgets = RetryBudgets(monotonic=Clock())
    made(budgets, 1_000, DOWN)
    for _ in range(31):
        budgets.learn(GATEWAY, Taken(key_id="K"), is_retry=False)
    assert made(budgets, 1_000, DOWN) == 3


@pytest.mark.parametrize("answer", [Taken(key_id="K"), Refused(code=RefusalCode.WHATSAPP_NOT_EXIST)])
def test_a_second_try_that_is_answered_well_is_given_back(answer: Answer) -> None:
    clock = Clock()
    budgets = RetryBudgets(monotonic=clock)
    made(budgets, 1_000, DOWN)
    clock.now = 1 / TOKENS_PER_SECOND
    assert made(budgets, 1_000, answer) == 1_000, "one token is enough once the gateway is well"


@pytest.mark.parametrize("answer", [DOWN, Unknown(reason=UnknownReason.TIMEOUT)])
def test_silence_and_failure_earn_nothing(answer: Answer) -> None:
    budgets = RetryBudgets(monotonic=Clock())
    for _ in range(1_000):
        budgets.learn(GATEWAY, answer, is_retry=False)
    assert made(budgets, 1_000, DOWN) == TOKENS_AT_FIRST


def test_gateways_do_not_pay_for_each_other() -> None:
    budgets = RetryBudgets(monotonic=Clock())
    made(budgets, 1_000, DOWN)
    assert made(budgets, 1_000, DOWN, base_url=OTHER) == TOKENS_AT_FIRST


def test_only_so_many_gateways_are_remembered() -> None:
    budgets = RetryBudgets(monotonic=Clock())
    for number in range(GATEWAYS_MAX + 5):
        budgets.allows(f"http://{number}", is_retry=True)
    assert len(budgets._budgets) == GATEWAYS_MAX


@given(events=some.lists(some.tuples(some.floats(-5, 100), some.sampled_from(["retry", "well", "well_again"]))))
def test_the_balance_stays_within_its_bounds_whatever_happens(events: list[tuple[float, str]]) -> None:
    budget = RetryBudget(at=0.0)
    for now, (_, what) in zip(itertools.accumulate(gap for gap, _ in events), events, strict=True):
        after = budget.spent(now) if what == "retry" else budget.earned(now, was_retry=what == "well_again")
        budget = after or budget.refilled(now)
        assert 0 <= budget.tokens <= TOKENS_MAX
