"""The loop that brings due jobs to their lanes, and sleeps exactly until the next one comes due."""

import asyncio
from dataclasses import dataclass, field

from chassis.loop import Loop
from dispatcher.usecases.promote_due import PromoteDue

IDLE_SECONDS = 1.0
"""Also how late a job may come due that another process scheduled."""


@dataclass(slots=True, kw_only=True)
class Promoting:
    """Promotes whenever something is due, once `settled` is set: what is not to be sent late has failed by then."""

    promote_due: PromoteDue
    settled: asyncio.Event
    name: str = "promoting"
    _loop: Loop = field(init=False)
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._loop = Loop(self.name, self._step, interval_seconds=IDLE_SECONDS)

    def wake(self) -> None:
        """Something may be due now, or sooner than was known."""
        self._loop.wake()

    async def start(self) -> None:
        """Begin to promote."""
        await self._loop.start()

    async def stop(self) -> None:
        """Let the running step finish, then end."""
        if self._timer is not None:
            self._timer.cancel()
        await self._loop.stop()

    async def _step(self) -> bool:
        if not self.settled.is_set():
            return False
        promoted = await self.promote_due()
        if promoted.jobs:
            return True
        if promoted.seconds_until_next is not None and promoted.seconds_until_next < IDLE_SECONDS:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(promoted.seconds_until_next, self._loop.wake)
        return False
