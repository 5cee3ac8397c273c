"""The notifier's loops: sending what is due, taking back what was abandoned, confirming, forgetting, measuring."""

import asyncio
from collections.abc import Callable

from chassis.loop import Loop
from chassis.telemetry.logs import get_logger
from notifier.domain.delivery import Claimed
from notifier.usecases.deliver_webhook import DeliverWebhook
from notifier.usecases.forget_deleted import ForgetDeleted
from notifier.usecases.forget_old import ForgetOld
from notifier.usecases.measure_backlog import MeasureBacklog
from notifier.usecases.tell_of_numbers import TellOfNumbers

logger = get_logger(__name__)

POLL_SECONDS = 0.25
CONFIRM_SECONDS = 5.0


class Sending:
    """Claims as much as there is room for and carries it out; `stop` claims no more and settles what is under way."""

    name = "sending"

    def __init__(self, deliver: DeliverWebhook, *, calls_max: int) -> None:
        self._deliver, self._calls_max = deliver, calls_max
        self._calls: set[asyncio.Task[None]] = set()
        self._loop = Loop("sending", self._step, interval_seconds=POLL_SECONDS)

    def wake(self) -> None:
        """There may be something to send."""
        self._loop.wake()

    async def start(self) -> None:
        """Begin."""
        await self._loop.start()

    async def stop(self) -> None:
        """Every call ends by itself within its timeout."""
        await self._loop.stop()
        if self._calls:
            await asyncio.wait(self._calls)

    async def _step(self) -> bool:
        room = self._calls_max - len(self._calls)
        claimed = await self._deliver.claim(room) if room > 0 else []
        for delivery in claimed:
            task = asyncio.create_task(self._carry_out(delivery), name="delivery")
            self._calls.add(task)
            task.add_done_callback(self._ended)
        return bool(claimed) and len(self._calls) < self._calls_max

    async def _carry_out(self, delivery: Claimed) -> None:
        try:
            await self._deliver.carry_out(delivery)
        except Exception:
            logger.exception("delivery_failed", delivery_id=delivery.delivery_id)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._calls.discard(task)
        self._loop.wake()


def taking_back(deliver: DeliverWebhook, *, interval_seconds: float) -> Loop:
    """Looks for expired leases."""

    async def step() -> bool:
        return await deliver.take_back() > 0

    return Loop("taking-back", step, interval_seconds=interval_seconds)


def confirming(tell: TellOfNumbers, *, told: Callable[[], None]) -> Loop:
    """Tells of connections that were lost and did not come back."""

    async def step() -> bool:
        more = await tell.confirm()
        told()
        return more

    return Loop("confirming", step, interval_seconds=min(tell.confirm_after.total_seconds() / 3, CONFIRM_SECONDS))


def forgetting(forget: ForgetOld) -> Loop:
    """Works off retention."""
    return Loop("forgetting", forget.__call__, interval_seconds=300)


def forgetting_deleted(forget: ForgetDeleted) -> Loop:
    """Removes what is left of deleted endpoints."""
    return Loop("forgetting-deleted", forget.__call__, interval_seconds=60)


def measuring(measure: MeasureBacklog) -> Loop:
    """Keeps the gauges fresh."""
    return Loop("measuring", measure.__call__, interval_seconds=15)
