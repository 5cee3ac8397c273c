"""A small bounded memory for configuration: what it knows is at most `ttl_seconds` old."""

import time
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class TtlCache(Generic[Key, Value]):
    """Least recently stored entries leave first when `entries_max` is reached. Not shared between processes."""

    def __init__(self, *, ttl_seconds: float, entries_max: int = 10_000) -> None:
        self._ttl, self._entries_max = ttl_seconds, entries_max
        self._entries: OrderedDict[Key, tuple[float, Value]] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The value, unless unknown or too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        stored_at, value = entry
        if time.monotonic() - stored_at > self._ttl:
            del self._entries[key]
            return None
        return value

    def put(self, key: Key, value: Value) -> None:
        """Remember `value` from now on."""
        self._entries[key] = (time.monotonic(), value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)

    def forget(self, key: Key) -> None:
        """Ask again next time."""
        self._entries.pop(key, None)
