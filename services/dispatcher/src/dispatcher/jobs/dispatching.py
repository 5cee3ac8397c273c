"""The loop that claims and the calls under way, bounded in number."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from chassis.loop import Loop
from chassis.telemetry.logs import get_logger
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.verdicts import Held, Released, Retry, Verdict
from dispatcher.usecases.claim_due import ClaimDue
from dispatcher.usecases.dispatch_due import CarryOut
from dispatcher.usecases.measures import CALLS_UNDER_WAY, CLAIM_SECONDS

logger = get_logger(__name__)

IDLE_SECONDS = 1.0
BUSY_SECONDS_MIN = 0.005
"""Work that is there but locked by somebody else: come again soon, not at once."""


@dataclass(slots=True, kw_only=True)
class Dispatching:
    """Claims whenever a lane may send and a call is free, once `settled` is set, and sleeps exactly until then.

    `wake_promoting` is called when a job goes back to wait.
    """

    claim_due: ClaimDue
    carry_out: CarryOut
    wake_promoting: Callable[[], None]
    calls_max: int
    drain_timeout_seconds: float
    settled: asyncio.Event
    name: str = "dispatching"
    _loop: Loop = field(init=False)
    _calls: set[asyncio.Task[Verdict]] = field(default_factory=set)
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._loop = Loop("claiming", self._step, interval_seconds=IDLE_SECONDS)

    def wake(self) -> None:
        """Something may be due now."""
        self._loop.wake()

    async def start(self) -> None:
        """Begin to claim."""
        await self._loop.start()

    async def stop(self) -> None:
        """Claim no more, then let calls under way answer and settle; what is not done by then keeps its lease."""
        await self._loop.stop()
        if self._calls:
            await asyncio.wait(self._calls, timeout=self.drain_timeout_seconds)

    async def _step(self) -> bool:
        capacity = self.calls_max - len(self._calls)
        if capacity <= 0 or not self.settled.is_set():
            return False
        with CLAIM_SECONDS.time():
            claimed = await self.claim_due(capacity)
        for attempt in claimed.attempts:
            self._begin(attempt, claimed.claimed_at)
        if claimed.attempts:
            return len(self._calls) < self.calls_max
        if claimed.seconds_until_work is not None and claimed.seconds_until_work < IDLE_SECONDS:
            self._wake_in(max(claimed.seconds_until_work, BUSY_SECONDS_MIN))
        return False

    def _begin(self, attempt: Attempt, claimed_at: float) -> None:
        task = asyncio.create_task(self.carry_out(attempt, claimed_at), name="attempt")
        self._calls.add(task)
        CALLS_UNDER_WAY.set(len(self._calls))
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Verdict]) -> None:
        self._calls.discard(task)
        CALLS_UNDER_WAY.set(len(self._calls))
        if not task.cancelled():
            if task.exception() is not None:
                logger.exception("attempt_abandoned", error=task.exception())
            elif isinstance(task.result(), Held | Released | Retry):
                self.wake_promoting()
        self._loop.wake()

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._loop.wake)
