"""The cache of configuration: bounded in age and in size."""

import pytest

from chassis import ttl_cache
from chassis.ttl_cache import TtlCache


class Time:
    """A clock that stands still."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(ttl_cache, "time", clock)
    return clock


def test_it_forgets_what_is_too_old(time: Time) -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    cache.put("a", 1)
    time.now += 2
    assert cache.get("a") == 1
    time.now += 0.001
    assert cache.get("a") is None


def test_putting_again_makes_it_young_again(time: Time) -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    cache.put("a", 1)
    time.now += 1.5
    cache.put("a", 2)
    time.now += 1.5
    assert cache.get("a") == 2


def test_the_least_recently_stored_leaves_first(time: Time) -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2, entries_max=2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 3)
    cache.put("c", 4)
    assert [cache.get(key) for key in "abc"] == [3, None, 4]


def test_what_is_forgotten_is_asked_again(time: Time) -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    cache.put("a", 1)
    cache.forget("a")
    cache.forget("a")
    assert cache.get("a") is None
