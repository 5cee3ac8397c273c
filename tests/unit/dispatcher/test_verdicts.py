"""Answer → verdict, as values: exhaustive, and never beyond the delivery window."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from contracts.errors import ErrorCode
from contracts.values import Category, Environment, MessageRef
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import Dispatched, Failed, Held, Retry, Uncertain, decide, resolution_window
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RULES = Rules()


def attempt(*, number: int = 1, category: Category = Category.UTILITY, window: float = 3_600) -> Attempt:
    ref = MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=category,
        correlation_id="c",
    )
    return Attempt(
        ref=ref,
        attempt=number,
        lease_token=uuid4(),
        started_at=NOW,
        leaves_at=NOW,
        deliver_until=NOW + timedelta(seconds=window),
        sealed="s",
        access=SealedAccess(number_id=uuid4(), sealed="s"),
        recipient_hash="0" * 64,
        text_hash="0" * 64,
    )


def test_taken_is_dispatched() -> None:
    verdict = decide(Taken(key_id="K"), attempt=attempt(), now=NOW, rules=RULES, dice=0.5)
    assert verdict == Dispatched(key_id="K")


@pytest.mark.parametrize("code", RefusalCode)
def test_every_refusal_has_a_public_code(code: RefusalCode) -> None:
    verdict = decide(Refused(code=code, detail="x" * 500), attempt=attempt(), now=NOW, rules=RULES, dice=0.5)
    assert isinstance(verdict, Failed)
    assert len(verdict.detail) == 200
    assert verdict.closes_lane is (code in (RefusalCode.INSTANCE_NOT_FOUND, RefusalCode.GATEWAY_AUTH_FAILED))


@pytest.mark.parametrize("reason", NotSentReason)
def test_every_not_sent_either_waits_with_the_lane_or_retries(reason: NotSentReason) -> None:
    verdict = decide(NotSent(reason=reason), attempt=attempt(), now=NOW, rules=RULES, dice=0.5)
    is_disconnected = reason in (NotSentReason.DISCONNECTED, NotSentReason.INSTANCE_NOT_READY)
    assert isinstance(verdict, Held if is_disconnected else Retry)


@pytest.mark.parametrize("reason", UnknownReason)
def test_unknown_is_uncertain_and_never_retried(reason: UnknownReason) -> None:
    verdict = decide(Unknown(reason=reason), attempt=attempt(), now=NOW, rules=RULES, dice=0.5)
    assert isinstance(verdict, Uncertain)
    assert (verdict.resolve_after, verdict.resolve_by) == (
        NOW + timedelta(seconds=60),
        NOW + timedelta(seconds=900),
    )


@pytest.mark.parametrize(
    ("category", "number", "bound"),
    [
        (Category.UTILITY, 1, 2),
        (Category.UTILITY, 2, 4),
        (Category.UTILITY, 6, 64),
        (Category.MARKETING, 7, 120),
        (Category.MARKETING, 5_000, 120),
        (Category.OTP, 1, 1),
        (Category.OTP, 4, 8),
        (Category.OTP, 5, 15),
    ],
)
def test_backoff_bounds(category: Category, number: int, bound: int) -> None:
    verdict = decide(
        NotSent(reason=NotSentReason.UNREACHABLE),
        attempt=attempt(number=number, category=category),
        now=NOW,
        rules=RULES,
        dice=1.0,
    )
    assert isinstance(verdict, Retry)
    assert verdict.next_attempt_at - NOW == timedelta(seconds=bound)


@given(
    number=some.integers(1, 200),
    dice=some.floats(0, 1, exclude_max=True),
    window=some.floats(0, 7_200),
    wait=some.none() | some.floats(-100, 10_000),
    category=some.sampled_from(Category),
)
def test_a_retry_always_fits_and_never_comes_before_it_is_allowed(
    number: int, dice: float, window: float, wait: float | None, category: Category
) -> None:
    tried = attempt(number=number, category=category, window=window)
    answer = NotSent(reason=NotSentReason.RATE_LIMITED, retry_after_seconds=wait)
    verdict = decide(answer, attempt=tried, now=NOW, rules=RULES, dice=dice)
    if isinstance(verdict, Failed):
        assert verdict.code is ErrorCode.EXPIRED_AFTER_ATTEMPTS
        return
    assert isinstance(verdict, Retry)
    assert NOW <= verdict.next_attempt_at < tried.deliver_until
    assert verdict.next_attempt_at - NOW >= timedelta(seconds=max(wait or 0, 0))


@given(category=some.sampled_from(Category), window=some.floats(0, 20_000))
def test_policy_decides_after_absence_could_be_believed_and_in_time_for_a_resend(
    category: Category, window: float
) -> None:
    until = NOW + timedelta(seconds=window)
    after, by = resolution_window(category=category, started_at=NOW, deliver_until=until, rules=RULES)
    assert after == NOW + RULES.absence_believed_after
    assert after <= by <= NOW + RULES.resolve_within
    if category is not Category.MARKETING and by > after:
        assert by < until
