"""A small bounded memory for configuration: what it knows is at most `ttl_seconds` old."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class TtlCache(Generic[Key, Value]):
    """Least recently stored entries leave first when `entries_max` is reached. Not shared between processes."""

    def __init__(self, *, ttl_seconds: float, entries_max: int = 10_000) -> None:
        self._ttl, self._entries_max = ttl_seconds, entries_max
        self._entries: OrderedDict[Key, tuple[float, Value]] = OrderedDict()
        self._loading: dict[Key, asyncio.Future[Value | None]] = {}

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

    async def get_or_load(self, key: Key, load: Callable[[], Awaitable[Value | None]]) -> Value | None:
        """The value, loaded if need be; who asks meanwhile waits for the same load. None is not remembered."""
        known = self.get(key)
        if known is not None:
            return known
        loading = self._loading.get(key)
        if loading is None:
            loading = self._loading[key] = asyncio.ensure_future(self._load(key, load))
        return await asyncio.shield(loading)  # the load is everybody's: one who leaves does not end it

    async def _load(self, key: Key, load: Callable[[], Awaitable[Value | None]]) -> Value | None:
        own = asyncio.current_task()
        try:
            value = await load()
            if value is not None and self._loading.get(key) is own:
                self.put(key, value)
            return value
        finally:
            if self._loading.get(key) is own:
                del self._loading[key]

    def put(self, key: Key, value: Value) -> None:
        """Remember `value` from now on."""
        self._entries[key] = (time.monotonic(), value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)

    def forget(self, key: Key) -> None:
        """Ask again next time, also if a load is under way: it may have read what has changed since."""
        self._loading.pop(key, None)
        self._entries.pop(key, None)
