"""What is told of a connection, and when: by what was told before, by how final the news is, by how long it lasts."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.values import ConnectionState
from status_ingest.domain.connections import LASTS_AFTER, TOLD_AGAIN_AFTER, Connection, Sighting, lasted, seen

NOW = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
OPEN, CONNECTING, CLOSE = ConnectionState.OPEN, ConnectionState.CONNECTING, ConnectionState.CLOSE


def follow(*story: tuple[float, ConnectionState, str | None]) -> tuple[Connection, list[tuple[float, ConnectionState]]]:
    """A number after sightings at seconds from NOW, and what was told of them when."""
    known, told = Connection(instance="loja"), []
    for seconds, state, reason in story:
        at = NOW + timedelta(seconds=seconds)
        known, fact = seen(known, Sighting(instance="loja", state=state, reason=reason, seen_at=at))
        if fact is not None:
            assert fact.observed_at == at
            told.append((seconds, fact.state))
    return known, told


@pytest.mark.parametrize("reason", ["401", "402", "403", "406", "refused", "logout", "removed", None])
def test_a_final_close_is_told_at_once(reason: str | None) -> None:
    assert follow((0, OPEN, None), (1, CLOSE, reason))[1] == [(0, OPEN), (1, CLOSE)]


@pytest.mark.parametrize("reason", ["408", "428", "440", "500", "503", "515"])
def test_a_passing_close_is_not_and_its_return_neither(reason: str) -> None:
    assert follow((0, OPEN, None), (1, CLOSE, reason), (2, CONNECTING, None), (3, OPEN, None))[1] == [(0, OPEN)]


def test_a_drop_lasts_from_its_first_sighting_on_whatever_it_is_called() -> None:
    known, told = follow((0, OPEN, None), (1, CLOSE, "428"), (9, CONNECTING, None))
    assert told == [(0, OPEN)]
    begun = NOW + timedelta(seconds=1)
    assert lasted(known, now=begun + LASTS_AFTER - timedelta(milliseconds=1))[1] is None
    after, fact = lasted(known, now=begun + LASTS_AFTER)
    assert fact is not None
    assert (fact.state, fact.observed_at) == (CONNECTING, NOW + timedelta(seconds=9))
    assert lasted(after, now=begun + timedelta(days=1))[1] is None


def test_the_same_is_told_again_only_after_a_while() -> None:
    again = TOLD_AGAIN_AFTER.total_seconds()
    story = ((0, CLOSE, "401"), (1, CLOSE, "logout"), (again - 1, CLOSE, "removed"), (again, CLOSE, "removed"))
    assert follow(*story)[1] == [(0, CLOSE), (again, CLOSE)]


def test_what_was_never_seen_is_never_told() -> None:
    assert lasted(Connection(instance="loja"), now=NOW) == (Connection(instance="loja"), None)


_sightings = st.tuples(
    st.integers(0, 50), st.sampled_from(list(ConnectionState)), st.sampled_from((None, "401", "428", "logout"))
)


@given(st.lists(_sightings, max_size=12), st.randoms(use_true_random=False))
def test_the_newest_sighting_is_believed_whatever_the_order(
    story: list[tuple[int, ConnectionState, str | None]], dice: object
) -> None:
    distinct = list({seconds: (float(seconds), state, reason) for seconds, state, reason in story}.values())
    newest = max(distinct, default=None)
    dice.shuffle(distinct)  # type: ignore[attr-defined]
    known, told = follow(*distinct, *distinct)
    assert (known.state, known.reason) == (newest[1:] if newest else (None, None))
    pairs = list(pairwise(told))
    assert all(later[0] > earlier[0] for earlier, later in pairs)
    assert all(later[1] is not earlier[1] for earlier, later in pairs)
