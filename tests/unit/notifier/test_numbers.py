"""What a number's facts change about what customers are told; pure."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from contracts.facts import NumberConnectionChanged, NumberCreated, NumberRemoved, NumberRestored
from contracts.values import ConnectionState
from notifier.domain.numbers import News, Number, NumberEvent, Turn, confirmed, observed, turned

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NEW = Number(number_id=UUID(int=7), instance="acme", tenant_id=UUID(int=8))


def turn(kind: type[Turn], version: int) -> Turn:
    return kind(
        number_id=NEW.number_id,
        instance="acme",
        tenant_id=NEW.tenant_id,
        sealed_profile="sealed",
        version=version,
        at=START + timedelta(seconds=version),
    )


def seen(state: ConnectionState, seconds: float) -> NumberConnectionChanged:
    return NumberConnectionChanged(instance="acme", state=state, observed_at=START + timedelta(seconds=seconds))


def test_the_last_word_is_the_same_in_any_order() -> None:
    life = [turn(NumberCreated, 1), turn(NumberRemoved, 2), turn(NumberRestored, 3), turn(NumberRemoved, 4)]
    for order in permutations(life):
        number, told = NEW, []
        for fact in order:
            number, news = turned(number, fact)
            told += [news] if news else []
        assert (number.removed, number.told_version) == (True, 4)
        assert [news.number.news for news in told] == list(range(1, len(told) + 1))
        assert told[-1].event is NumberEvent.REMOVED


@given(st.lists(st.sampled_from(ConnectionState), max_size=30), st.sets(st.integers(0, 29)))
def test_connected_and_disconnected_take_turns(states: list[ConnectionState], confirmations: set[int]) -> None:
    number, told = NEW, list[News]()
    for index, state in enumerate(states):
        number, news = observed(number, seen(state, index + 1))
        told += [news] if news else []
        if index in confirmations:
            number, news = confirmed(number)
            told += [news] if news else []
    events = [news.event for news in told]
    assert events == [NumberEvent.CONNECTED, NumberEvent.DISCONNECTED] * (len(events) // 2) + (
        [NumberEvent.CONNECTED] if len(events) % 2 else []
    )
    assert number.connected == (len(events) % 2 == 1)


def test_what_was_seen_before_a_removal_is_no_news_after_a_restoration() -> None:
    number, _ = observed(NEW, seen(ConnectionState.OPEN, 1))
    number, _ = turned(number, turn(NumberRemoved, 2))
    assert observed(number, seen(ConnectionState.OPEN, 100)) == (number, None)
    number, _ = turned(number, turn(NumberRestored, 3))
    assert observed(number, seen(ConnectionState.OPEN, 2.5))[1] is None
    after, news = observed(number, seen(ConnectionState.OPEN, 4))
    assert news is not None
    assert (news.event, after.connected) == (NumberEvent.CONNECTED, True)


def test_a_loss_that_was_not_confirmed_leaves_no_trace() -> None:
    number = replace(NEW, connected=True)
    number, _ = observed(number, seen(ConnectionState.CLOSE, 1))
    assert number.closed_at == START + timedelta(seconds=1)
    number, news = observed(number, seen(ConnectionState.OPEN, 2))
    assert (number.closed_at, number.connected, news) == (None, True, None)
    assert confirmed(number) == (number, None)
