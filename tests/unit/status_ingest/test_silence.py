"""When a number counts as silent, and what it learns of what is usual for it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from status_ingest.domain.silence import Passage, SilenceRules, Traffic, followed, patience_with

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
RULES = SilenceRules()


def at(seconds: float) -> datetime:
    """From NOW."""
    return NOW + timedelta(seconds=seconds)


def waiting(usual_wait_seconds: float = 0.0) -> Traffic:
    """A number that sent something at NOW and was not heard since."""
    return Traffic(instance="a", dispatched_at=NOW, unheard_since=NOW, usual_wait_seconds=usual_wait_seconds)


@pytest.mark.parametrize(
    ("usual", "patience"),
    [(0.0, timedelta(minutes=5)), (29.0, timedelta(minutes=5)), (60.0, timedelta(minutes=10)), (1e6, RULES.at_most)],
)
def test_patience_is_ten_times_what_is_usual_within_bounds(usual: float, patience: timedelta) -> None:
    known = waiting(usual_wait_seconds=usual)
    assert patience_with(known, RULES) == patience
    early = followed(known, Passage(instance="a"), now=NOW + patience - timedelta(seconds=1), rules=RULES)
    late = followed(known, Passage(instance="a"), now=NOW + patience, rules=RULES)
    assert (early.silent_since, late.silent_since) == (None, NOW + patience)


def test_a_number_that_is_heard_at_once_stays_at_its_shortest_patience() -> None:
    known = Traffic(instance="a", dispatched_at=NOW, usual_wait_seconds=100.0)
    busy = Passage(instance="a", dispatched_at=at(60), heard_at=at(61))
    after = followed(known, busy, now=at(90), rules=RULES)
    assert (after.unheard_since, after.usual_wait_seconds, after.heard_at) == (None, 90.0, at(61))


def test_an_answer_ends_the_wait_and_a_later_send_begins_another() -> None:
    passage = Passage(instance="a", heard_at=at(40), answered_at=at(20), dispatched_at=at(90), unheard_at=at(90))
    after = followed(waiting(), passage, now=at(100), rules=RULES)
    assert (after.unheard_since, after.usual_wait_seconds) == (at(90), 2.0)


def test_an_echo_just_before_we_heard_of_the_send_is_its_answer() -> None:
    passage = Passage(instance="a", heard_at=at(-2), answered_at=at(-2))
    after = followed(waiting(), passage, now=at(5), rules=RULES)
    assert (after.unheard_since, after.usual_wait_seconds) == (None, 0.0)


@given(st.lists(st.integers(1, 1_000), max_size=10))
def test_a_number_that_sends_nothing_is_never_silent(pauses: list[int]) -> None:
    known, now = Traffic(instance="a", dispatched_at=NOW, heard_at=NOW), NOW
    for hours in pauses:
        now += timedelta(hours=hours)
        known = followed(known, Passage(instance="a"), now=now, rules=RULES)
        assert known.silent_since is None


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_looking_twice_at_the_same_silence_notices_it_once(first: float, second: float) -> None:
    one = followed(waiting(), Passage(instance="a"), now=at(first), rules=RULES)
    two = followed(one, Passage(instance="a"), now=at(first + second), rules=RULES)
    assert one.silent_since is None or two.silent_since == one.silent_since
