"""Keeps a session with the broker alive: begun without blocking, begun anew when lost, given up when hopeless."""

import asyncio
from collections.abc import Awaitable, Callable

from chassis.amqp import was_cancelled_by_us
from chassis.redelivery import doubled
from chassis.telemetry.logs import get_logger

logger = get_logger(__name__)

RETRY_FIRST_SECONDS = 0.2
RETRY_MAX_SECONDS = 5.0
STEADY_SECONDS = 10.0
"""A session that worked this long was a success: the next retry starts from the shortest pause."""

OnFatal = Callable[[str], None]


class Supervisor:
    """Runs `session` again and again. A session says `connected()` and `working()` as it gets there and ends when lost.

    If the broker has been reachable for `give_up_after_seconds` and still nothing works, `on_fatal` is told why, once.
    """

    def __init__(
        self,
        name: str,
        session: Callable[[], Awaitable[None]],
        *,
        on_fatal: OnFatal | None = None,
        give_up_after_seconds: float = 120.0,
    ) -> None:
        self._name, self._session = name, session
        self._on_fatal, self._give_up_after_seconds = on_fatal, give_up_after_seconds
        self._tasks: list[asyncio.Task[None]] = []
        self._working_since: float | None = None
        self._reachable_since: float | None = None
        self._has_connected = False
        self._last_error = "not connected yet"

    @property
    def is_working(self) -> bool:
        """True while the session does what it is for."""
        return self._working_since is not None

    def start(self) -> None:
        """Begin in the background; again changes nothing."""
        if self._tasks:
            return
        self._tasks = [
            asyncio.create_task(self._run(), name=f"{self._name}-session"),
            asyncio.create_task(self._watch(), name=f"{self._name}-watchdog"),
        ]

    async def stop(self) -> None:
        """End the session and wait for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        self._working_since = None

    def connected(self) -> None:
        """The broker answered; from now on being unable to work is not its absence."""
        self._has_connected = True
        if self._reachable_since is None:
            self._reachable_since = _now()

    def working(self) -> None:
        """Everything consumes or publishes as it should."""
        if self._working_since is None:
            self._working_since = _now()
        self._reachable_since = None

    def problem(self) -> str | None:
        """For readiness: None while working."""
        return None if self.is_working else f"{self._name}: {self._last_error}"

    async def _run(self) -> None:
        failures = 0
        while True:
            self._has_connected = False
            error = await self._one_session()
            if not self._has_connected:
                self._reachable_since = None
            steady = self._working_since is not None and _now() - self._working_since > STEADY_SECONDS
            failures = 0 if steady else failures + 1
            self._working_since, self._last_error = None, error
            pause = doubled(RETRY_FIRST_SECONDS, failures, RETRY_MAX_SECONDS)
            logger.warning("broker_session_lost", name=self._name, reason=error, delay_seconds=pause)
            await asyncio.sleep(pause)

    async def _one_session(self) -> str:
        try:
            await self._session()
        except asyncio.CancelledError:
            if was_cancelled_by_us():
                raise
            return "ConnectionLost"
        except Exception as error:
            return type(error).__name__
        return "ConnectionLost"

    async def _watch(self) -> None:
        interval = min(1.0, self._give_up_after_seconds / 10)
        while True:
            await asyncio.sleep(interval)
            since = self._reachable_since
            if since is not None and _now() - since > self._give_up_after_seconds:
                break
        reason = f"{self._name}: the broker is reachable but nothing works ({self._last_error})"
        logger.error("broker_session_hopeless", name=self._name, reason=self._last_error)
        if self._on_fatal is not None:
            self._on_fatal(reason)


def _now() -> float:
    return asyncio.get_running_loop().time()
