"""Listens for PostgreSQL notifications, so that a relay hears at once what another process said."""

import asyncio
import contextlib
from collections.abc import Callable

import asyncpg

RECONNECT_SECONDS = 5.0


class Listener:
    """Calls `wake` on every NOTIFY of `channel`. Losing the connection only costs latency: relays poll as well."""

    def __init__(self, database_url: str, channel: str, wake: Callable[[], None]) -> None:
        self._url = database_url.replace("postgresql+asyncpg://", "postgresql://", 1)
        self._channel, self._wake = channel, wake
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect in the background."""
        self._task = asyncio.create_task(self._keep_listening(), name=f"listen:{self._channel}")

    async def stop(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_listening(self) -> None:
        while True:
            with contextlib.suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await self._listen()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen(self) -> None:
        closed = asyncio.Event()
        connection = await asyncpg.connect(self._url, timeout=5, server_settings={"application_name": self._channel})
        try:
            connection.add_termination_listener(lambda _: closed.set())
            await connection.add_listener(self._channel, lambda *_: self._wake())
            self._wake()
            await closed.wait()
        finally:
            with contextlib.suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await connection.close(timeout=2)
