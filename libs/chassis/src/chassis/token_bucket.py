"""Token buckets in the memory of one process: how often each of many keys may do something per minute."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple


class Level(NamedTuple):
    """A bucket after somebody asked for a token: how long they have to wait (0: they got one), and what is left."""

    wait_seconds: float
    left: int
    full_in_seconds: float


class TokenBuckets:
    """A bucket per key, full at first, refilled evenly. Per process: N replicas let N times as much through.

    At most `keys_max` are kept; the key that was used least recently starts with a full bucket again.
    """

    def __init__(self, *, keys_max: int = 10_000, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._keys_max, self._monotonic = keys_max, monotonic
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def take(self, key: object, *, per_minute: int) -> Level:
        """Take one token if there is one."""
        now, size = self._monotonic(), float(per_minute)
        tokens, seen_at = self._buckets.get(key, (size, now))
        tokens = min(size, tokens + (now - seen_at) * per_minute / 60)
        wait = 0.0 if tokens >= 1 else (1 - tokens) * 60 / per_minute
        tokens = tokens if wait else tokens - 1
        self._buckets[key] = (tokens, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > self._keys_max:
            self._buckets.popitem(last=False)
        return Level(wait, int(tokens), (size - tokens) * 60 / per_minute)
