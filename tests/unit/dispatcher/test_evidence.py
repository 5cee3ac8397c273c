"""Which trace belongs to which intent, and what silence means."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from contracts.errors import ErrorCode
from contracts.parts import Media, MediaType
from contracts.values import Category, ConnectionState, Environment, MessageContent, MessageRef
from dispatcher.domain.evidence import Absence, GivenUp, Resend, Trace, Wait, conclude, pair, silence_counts
from dispatcher.domain.jobs import JobState, Suspect
from dispatcher.domain.rules import Rules
from gateways.reserved import reserved_id

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SLACK = timedelta(seconds=5)
PHOTO = Media(media_type=MediaType.IMAGE, media="https://example.com/photo.png")
PROOF_OF_ABSENCE = Absence(looked_up=True, state=ConnectionState.OPEN, echoed_at=NOW + timedelta(seconds=30))


def suspect(
    *, started: float = 0, category: Category = Category.UTILITY, window: float = 3_600, number: int = 0
) -> Suspect:
    ref = MessageRef(
        message_id=UUID(int=number) if number else uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=category,
        correlation_id="c",
    )
    started_at = NOW + timedelta(seconds=started)
    return Suspect(
        ref=ref,
        state=JobState.UNCERTAIN,
        attempt=1,
        since=started_at,
        started_at=started_at,
        deliver_until=NOW + timedelta(seconds=window),
        resolve_after=started_at + timedelta(seconds=60),
        resolve_by=started_at + timedelta(seconds=900),
        check_failures=0,
        duplicate_possible=False,
        sealed="s",
        recipient_hash="0" * 64,
        text_hash="0" * 64,
    )


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_the_oldest_intents_get_the_oldest_traces() -> None:
    first, second, third = (suspect(started=n) for n in (0, 10, 20))
    traces = [Trace(key_id="B", seen_at=after(12)), Trace(key_id="A", seen_at=after(1))]
    pairs = pair([third, second, first], traces, slack=SLACK)
    assert [(one, trace.key_id) for one, trace in pairs] == [(first, "A"), (second, "B")]


def test_a_trace_under_a_reserved_id_is_that_intents_and_nobody_elses() -> None:
    old, young = suspect(started=0), suspect(started=10)
    own = Trace(key_id=reserved_id(*young.key), seen_at=after(-500))
    assert pair([old, young], [own, own], slack=SLACK) == ((young, own),)
    in_time = replace(own, seen_at=after(20))
    assert pair([old, young], [in_time], slack=SLACK) == ((young, in_time),)
    assert pair([old, young], [in_time, in_time], slack=SLACK) == ((young, in_time),)
    other = Trace(key_id="A", seen_at=after(20))
    assert {(one, trace.key_id) for one, trace in pair([old, young], [other, own], slack=SLACK)} == {
        (young, own.key_id),
        (old, "A"),
    }


def test_a_trace_older_than_the_intent_is_not_its_own() -> None:
    old, young = suspect(started=0), suspect(started=100)
    traces = [Trace(key_id="A", seen_at=after(-5.1)), Trace(key_id="B", seen_at=after(50))]
    assert [(one, trace.key_id) for one, trace in pair([young, old], traces, slack=SLACK)] == [(old, "B")]


@given(starts=some.lists(some.integers(0, 1_000), max_size=8), seen=some.lists(some.integers(-100, 1_100), max_size=8))
def test_pairs_use_nobody_twice_and_never_look_back_beyond_the_slack(starts: list[int], seen: list[int]) -> None:
    suspects = [suspect(started=start) for start in starts]
    traces = [Trace(key_id=f"K{n}", seen_at=after(at)) for n, at in enumerate(seen)]
    pairs = pair(suspects, traces, slack=SLACK)
    assert len({one.key for one, _ in pairs}) == len(pairs) == len({trace.key_id for _, trace in pairs})
    assert all(trace.seen_at >= one.since - SLACK for one, trace in pairs)
    usable = [at for at in seen if starts and at >= max(starts) - 5]
    assert len(pairs) >= min(len(starts), len(usable))


def test_absence_with_every_proof_is_a_plain_resend() -> None:
    verdict = conclude(suspect(), PROOF_OF_ABSENCE, now=after(60), rules=Rules(), dice=0.5)
    assert verdict == Resend(duplicate_possible=False)


def test_absence_before_its_time_is_a_wait_until_then() -> None:
    verdict = conclude(suspect(), PROOF_OF_ABSENCE, now=after(55), rules=Rules(), dice=0.5)
    assert verdict == Wait(until=after(60), failures=0)


def test_policy_at_the_deadline() -> None:
    mute = Absence(looked_up=False)
    for category, verdict in (
        (Category.OTP, Resend(duplicate_possible=True)),
        (Category.UTILITY, Resend(duplicate_possible=True)),
        (Category.MARKETING, GivenUp(code=ErrorCode.UNCONFIRMED)),
    ):
        assert conclude(suspect(category=category), mute, now=after(900), rules=Rules(), dice=0.5) == verdict
    late = suspect(window=900)
    assert conclude(late, mute, now=after(900), rules=Rules(), dice=0.5) == GivenUp(code=ErrorCode.UNCONFIRMED)


@given(now=some.floats(0, 899), dice=some.floats(0, 1, exclude_max=True), looked_up=some.booleans())
def test_a_wait_ends_in_the_future_and_not_after_the_deadline(now: float, dice: float, looked_up: bool) -> None:
    verdict = conclude(suspect(), Absence(looked_up=looked_up), now=after(now), rules=Rules(), dice=dice)
    assert isinstance(verdict, Wait)
    assert after(now) < verdict.until <= after(900)


@pytest.mark.parametrize(
    ("text", "part", "stored", "seconds", "counts"),
    [
        ("hello", None, [None], 0, True),
        ("caption", PHOTO, [None], 180, True),
        ("caption", PHOTO, [None], 179, False),
        ("", PHOTO, ["other"], 180, True),
        ("", PHOTO, ["other", None], 10_000, False),
    ],
)
def test_silence_about_a_file_counts_late_and_only_if_it_could_be_told_apart(
    text: str, part: Media | None, stored: list[str | None], seconds: int, counts: bool
) -> None:
    content = MessageContent(to="5547991000000", text=text, part=part)
    now = NOW + timedelta(seconds=seconds)
    assert silence_counts(content, stored=stored, started_at=NOW, now=now) is counts
