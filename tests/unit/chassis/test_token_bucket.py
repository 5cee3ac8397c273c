"""Token buckets: a burst, then an even rate, and an honest account of what is left."""

import pytest

from chassis.token_bucket import TokenBuckets


class Stopwatch:
    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


def test_the_bucket_counts_down_and_tells_when_it_is_full_again(watch: Stopwatch) -> None:
    buckets = TokenBuckets(monotonic=watch)
    levels = [buckets.take("key", per_minute=3) for _ in range(4)]
    assert [(level.wait_seconds, level.left, level.full_in_seconds) for level in levels] == [
        (0, 2, 20),
        (0, 1, 40),
        (0, 0, 60),
        (20, 0, 60),
    ]


def test_it_fills_evenly_and_never_beyond_its_size(watch: Stopwatch) -> None:
    buckets = TokenBuckets(monotonic=watch)
    for _ in range(3):
        buckets.take("key", per_minute=3)
    watch.seconds += 20
    assert buckets.take("key", per_minute=3).wait_seconds == 0
    assert buckets.take("key", per_minute=3).wait_seconds == pytest.approx(20)
    watch.seconds += 1_000
    assert buckets.take("key", per_minute=3).left == 2


def test_keys_do_not_share_and_the_least_used_is_forgotten(watch: Stopwatch) -> None:
    buckets = TokenBuckets(keys_max=2, monotonic=watch)
    assert [buckets.take(key, per_minute=1).wait_seconds > 0 for key in "aabbab"] == [
        False,
        True,
        False,
        True,
        True,
        True,
    ]
    buckets.take("c", per_minute=1)
    assert buckets.take("a", per_minute=1).wait_seconds == 0
