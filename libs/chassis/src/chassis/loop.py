"""A supervised background loop: runs a step at an interval or when woken, and outlives every failure of it."""

import asyncio
from collections.abc import Awaitable, Callable

from chassis.database import UnavailableError
from chassis.telemetry.logs import get_logger

logger = get_logger(__name__)


class Loop:
    """Runs `step` again at once while it returns True (there is more), else after `interval_seconds` or a `wake`.

    After a wake it waits `linger_seconds` for company, where a step costs about the same for one as for many.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], Awaitable[bool]],
        *,
        interval_seconds: float,
        failure_pause_seconds: float = 1.0,
        linger_seconds: float = 0.0,
    ) -> None:
        self.name = name
        self._step, self._interval, self._failure_pause = step, interval_seconds, failure_pause_seconds
        self._linger = linger_seconds
        self._woken = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Run the step soon."""
        self._woken.set()

    async def start(self) -> None:
        """Begin; the first step runs at once."""
        self._task = asyncio.create_task(self._run(), name=self.name)

    async def stop(self) -> None:
        """Let the running step finish, then end."""
        self._stopping.set()
        self._woken.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            if not await self._guarded_step():
                await _wait(self._stopping, self._failure_pause)

    async def _guarded_step(self) -> bool:
        """False if the step failed and deserves a pause that nobody may cut short."""
        try:
            if not await self._step():
                await _wait(self._woken, self._interval)
                if self._linger and self._woken.is_set():
                    await _wait(self._stopping, self._linger)
            return True
        except UnavailableError as error:
            logger.warning("loop_step_unavailable", loop=self.name, reason=str(error))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            logger.warning("loop_step_connection_lost", loop=self.name)
        except Exception:
            logger.exception("loop_step_failed", loop=self.name)
        return False


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
