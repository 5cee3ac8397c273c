"""What follows from an attempt."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.delivery_questions import DeliveryState as State
from contracts.facts import WebhookDelivered, WebhookExhausted
from contracts.values import Category, Environment, MessageRef
from notifier.domain.delivery import Answered, Claimed, Unanswered, Verdict, decide, fact_of
from notifier.domain.problems import HINTS, SWITCHED_OFF, Problem, why_off
from notifier.domain.schedule import Schedule
from notifier.domain.settlement import Settlement, oldest_id, outcomes_of
from notifier.settings import PAUSES_SECONDS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCHEDULE = Schedule(pauses=tuple(timedelta(seconds=seconds) for seconds in PAUSES_SECONDS))
CLAIMED = Claimed(
    delivery_id=UUID(int=1),
    endpoint_id=UUID(int=2),
    ref=MessageRef(
        message_id=UUID(int=3),
        tenant_id=UUID(int=4),
        project_id=UUID(int=5),
        number_id=UUID(int=6),
        instance="acme",
        environment=Environment.LIVE,
        category=Category.OTP,
        correlation_id="order-1",
    ),
    event="message.read",
    changed_at=NOW,
    attempt=1,
    lease_token=UUID(int=7),
    lease_until=NOW + timedelta(seconds=30),
    url="https://example.com",
    sealed_secret="s",
    sealed_body="b",
    failures=0,
    failing_since=None,
)


def judge(evidence: Answered | Unanswered, *, dice: float = 0.0, **changes: Any) -> Verdict:
    return decide(evidence, claimed=replace(CLAIMED, **changes), schedule=SCHEDULE, now=NOW, dice=dice)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_is_success(status: int) -> None:
    assert judge(Answered(status=status)) == Verdict(state=State.DELIVERED, status=status)


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (Answered(status=199), Problem.STATUS),
        (Answered(status=300), Problem.REDIRECT),
        (Answered(status=308), Problem.REDIRECT),
        (Answered(status=400), Problem.STATUS),
        (Answered(status=404), Problem.STATUS),
        (Answered(status=500), Problem.STATUS),
        (Unanswered(problem=Problem.TIMEOUT), Problem.TIMEOUT),
        (Unanswered(problem=Problem.FORBIDDEN_TARGET), Problem.FORBIDDEN_TARGET),
    ],
)
def test_everything_else_is_tried_again(evidence: Answered | Unanswered, problem: Problem) -> None:
    verdict = judge(evidence)
    assert (verdict.state, verdict.problem, verdict.disable) == (State.PENDING, problem, None)
    assert verdict.due_at == NOW + timedelta(seconds=5)


def test_410_ends_it_and_switches_the_endpoint_off() -> None:
    gone = Verdict(state=State.EXHAUSTED, status=410, problem=Problem.GONE, disable=Problem.GONE)
    assert judge(Answered(status=410)) == gone


def test_ten_attempts_over_the_published_schedule() -> None:
    verdicts = [judge(Answered(status=500), attempt=attempt) for attempt in range(1, 11)]
    pauses = [verdict.due_at - NOW for verdict in verdicts if verdict.due_at]
    assert pauses == list(SCHEDULE.pauses)
    assert [verdict.state for verdict in verdicts] == [State.PENDING] * 9 + [State.EXHAUSTED]
    assert sum(pauses, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)


def test_an_attempt_beyond_the_schedule_is_the_last() -> None:
    assert judge(Answered(status=500), attempt=99).state is State.EXHAUSTED


@pytest.mark.parametrize(("dice", "seconds"), [(0.0, 300), (0.5, 330), (0.999, 359.94)])
def test_jitter_lengthens_by_up_to_a_fifth(dice: float, seconds: float) -> None:
    due_at = judge(Answered(status=500), attempt=2, dice=dice).due_at
    assert due_at == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("2", 5),
        ("0", 5),
        ("-3", 5),
        ("soon", 5),
        ("", 5),
        ("٣٠", 5),
        ("9" * 30, 86_400),
        ("Thu, 01 Jan 2026 00:10:00 GMT", 600),
        ("Wed, 31 Dec 2025 00:10:00 GMT", 5),
        ("Thu, 01 Jan 2099 00:10:00 GMT", 86_400),
        ("Thu, 99 Foo 2099 00:10:00 GMT", 5),
        ("Thu Jan  1 00:10:00 2026", 600),
        ("Thursday, 01-Jan-26 00:10:00 GMT", 600),
        ("Thu, 01 Jan 2026 00:10:00 +9999", 5),
        ("Thu, 01 Jan 99999 00:00:00 GMT", 5),
        ("1e3", 5),
        ("10.5", 5),
        ("+60", 5),
        ("60, 120", 5),
        ("60s", 5),
        ("\x00", 5),
        ("x" * 10_000, 5),
    ],
)
def test_retry_after_is_honoured_but_never_shortens(header: str, seconds: float) -> None:
    assert judge(Answered(status=503, retry_after=header)).due_at == NOW + timedelta(seconds=seconds)


@given(header=st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_whatever_a_retry_after_says_the_pause_is_neither_shorter_nor_longer_than_a_day(header: str) -> None:
    due_at = judge(Answered(status=429, retry_after=header)).due_at
    assert due_at is not None
    assert timedelta(seconds=5) <= due_at - NOW <= timedelta(days=1)


@pytest.mark.parametrize(
    ("days", "failures", "off"), [(5, 19, True), (5, 18, False), (4.99, 500, False), (30, 19, True)]
)
def test_an_endpoint_is_worn_out_after_days_and_many_failures(days: float, failures: int, off: bool) -> None:
    since = NOW - timedelta(days=days)
    verdict = judge(Answered(status=500), failing_since=since, failures=failures)
    assert verdict.disable is (Problem.STATUS if off else None)
    assert judge(Answered(status=200), failing_since=since, failures=failures).disable is None


def test_facts_are_said_of_what_is_over() -> None:
    done = fact_of(CLAIMED, Verdict(state=State.DELIVERED, status=204), now=NOW)
    given_up = fact_of(CLAIMED, Verdict(state=State.EXHAUSTED, problem=Problem.TIMEOUT), now=NOW)
    assert isinstance(done, WebhookDelivered)
    assert isinstance(given_up, WebhookExhausted)
    assert (done.last_status, given_up.last_status) == (204, None)
    assert fact_of(CLAIMED, Verdict(state=State.PENDING, due_at=NOW), now=NOW) is None


def test_every_problem_has_a_sentence() -> None:
    assert set(HINTS) == set(Problem)


def test_one_success_in_a_batch_forgives() -> None:
    def ended(endpoint: int, verdict: Verdict) -> Settlement:
        claimed = replace(CLAIMED, endpoint_id=UUID(int=endpoint))
        return Settlement(claimed=claimed, verdict=verdict, started_at=NOW, ended_at=NOW)

    failed, done = Verdict(state=State.PENDING, due_at=NOW), Verdict(state=State.DELIVERED)
    gone = Verdict(state=State.EXHAUSTED, disable=Problem.GONE)
    outcomes = outcomes_of([ended(9, failed), ended(2, failed), ended(9, done), ended(2, gone)])
    assert [(o.endpoint_id.int, o.calls, o.failed, o.succeeded, o.disable) for o in outcomes] == [
        (2, 2, 2, False, Problem.GONE),
        (9, 2, 1, True, None),
    ]


def test_ids_sort_by_time() -> None:
    before, after = oldest_id(NOW), oldest_id(NOW + timedelta(milliseconds=1))
    made_at_now = UUID(int=int(NOW.timestamp() * 1_000) << 80 | 0x7 << 76 | 0x2 << 62)
    assert before < made_at_now < after
    assert oldest_id(datetime(1, 1, 1, tzinfo=UTC)) == UUID(int=0)


def test_a_replay_begins_the_schedule_anew() -> None:
    verdict = judge(Answered(status=500), attempt=11, attempts_before=10)
    assert (verdict.state, verdict.due_at) == (State.PENDING, NOW + timedelta(seconds=5))
    assert judge(Answered(status=500), attempt=20, attempts_before=10).state is State.EXHAUSTED


@pytest.mark.parametrize("reason", [*Problem, SWITCHED_OFF])
def test_every_reason_to_be_off_has_a_sentence(reason: str) -> None:
    assert why_off(reason)
    assert why_off(None) is None
    assert why_off(Problem.GONE) == HINTS[Problem.GONE]
