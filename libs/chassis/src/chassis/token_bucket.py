"""Token buckets in the memory of one process: how often each of many keys may do something per minute."""

import time
from collections import OrderedDict
from collections.abc import Callable


class TokenBuckets:
    """A bucket per key, full at first, refilled evenly. Per process: N replicas let N times as much through.

    At most `keys_max` are kept; the key that was used least recently starts with a full bucket again.
    """

    def __init__(self, *, keys_max: int = 10_000, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._keys_max, self._monotonic = keys_max, monotonic
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def take(self, key: object, *, per_minute: int) -> float:
        """Take one token; the seconds until there is one if there is none, else 0."""
        now = self._monotonic()
        tokens, seen_at = self._buckets.get(key, (float(per_minute), now))
        tokens = min(float(per_minute), tokens + (now - seen_at) * per_minute / 60)
        wait = 0.0 if tokens >= 1 else (1 - tokens) * 60 / per_minute
        self._buckets[key] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > self._keys_max:
            self._buckets.popitem(last=False)
        return wait
