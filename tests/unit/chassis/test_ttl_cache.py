"""The cache of configuration: bounded in age and in size."""

import asyncio

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


async def test_who_asks_while_it_loads_waits_for_the_same_load() -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    loads = 0

    async def load() -> int:
        nonlocal loads
        loads += 1
        await asyncio.sleep(0)
        return 7

    assert await asyncio.gather(*(cache.get_or_load("a", load) for _ in range(20))) == [7] * 20
    assert loads == 1
    assert cache.get("a") == 7


async def test_what_was_forgotten_while_it_loaded_is_not_remembered() -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)

    async def load() -> int:
        cache.forget("a")
        return 7

    assert await cache.get_or_load("a", load) == 7
    assert cache.get("a") is None


async def test_a_failed_load_is_told_to_all_who_wait_and_tried_again() -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)

    async def fail() -> int:
        await asyncio.sleep(0)
        raise OSError

    async def succeed() -> int:
        return 7

    told = await asyncio.gather(*(cache.get_or_load("a", fail) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in told] == [OSError] * 3
    assert await cache.get_or_load("a", succeed) == 7


async def test_one_who_leaves_does_not_end_the_load_of_the_others() -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    gate = asyncio.Event()

    async def load() -> int:
        await gate.wait()
        return 7

    first, second = (asyncio.create_task(cache.get_or_load("a", load)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert await second == 7


async def test_nothing_found_is_not_remembered() -> None:
    cache: TtlCache[str, int] = TtlCache(ttl_seconds=2)
    found: list[int | None] = [None, 7]

    async def load() -> int | None:
        return found.pop(0)

    assert await cache.get_or_load("a", load) is None
    assert await cache.get_or_load("a", load) == 7
