"""Forecasting as messages are accepted: what lanes last said is at hand, and asked for again in the background."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.messages.domain.forecast import Departing, Forecast
from api.messages.usecases.cancel_messages import DispatcherQuestions
from api.refusals import RefusedError
from chassis.telemetry.logs import get_logger
from chassis.token_bucket import TokenBuckets
from contracts.dispatch_questions import DescribeLane, LaneDescribed

logger = get_logger(__name__)

LANES_MAX = 5_000
QUESTIONS_MAX = 4
QUESTIONS_PER_MINUTE = 600
"""At most, for all lanes together: to describe a deep lane costs the dispatcher some milliseconds."""
SILENCE_MIN, SILENCE_MAX = timedelta(seconds=1), timedelta(seconds=5)


@dataclass(slots=True)
class _Lane:
    forecast: Forecast | None = None
    asked_at: datetime | None = None
    is_asking: bool = False


class ForecastDispatch:
    """A bounded memory of lanes by instance. Whoever asks it never waits; it asks the dispatcher in the background.

    One question per lane at a time, `QUESTIONS_MAX` at once. A dispatcher that keeps silent is left alone for a while.
    """

    name = "forecasts"

    def __init__(
        self,
        questions: DispatcherQuestions,
        *,
        fresh_seconds: float,
        clock: Callable[[], datetime],
        lanes_max: int = LANES_MAX,
    ) -> None:
        self._questions, self._clock = questions, clock
        self._fresh, self._lanes_max = timedelta(seconds=fresh_seconds), lanes_max
        self._lanes: OrderedDict[str, _Lane] = OrderedDict()
        self._asking: set[asyncio.Task[None]] = set()
        self._budget = TokenBuckets(keys_max=1)
        self._silence = SILENCE_MIN
        self._quiet_until: datetime | None = None
        self._stopping = False

    def admit(self, instance: str, message: Departing, *, now: datetime) -> datetime | None:
        """When a message just admitted is expected to leave, None where nobody can tell; it is ahead of later ones."""
        lane = self._lane(instance)
        if lane.asked_at is None or now - lane.asked_at >= self._fresh:
            self._refresh(instance, lane, now)
        if lane.forecast is None:
            return None
        expected = lane.forecast.expected_at(message, now=now)
        lane.forecast.admit(message, now=now)
        return expected

    async def start(self) -> None:
        """Nothing to start: lanes are asked about when somebody sends."""

    async def stop(self) -> None:
        """Ask no more."""
        self._stopping = True
        asking = list(self._asking)
        for task in asking:
            task.cancel()
        if asking:
            await asyncio.wait(asking)

    def _lane(self, instance: str) -> _Lane:
        lane = self._lanes.get(instance)
        if lane is None:
            lane = self._lanes[instance] = _Lane()
        self._lanes.move_to_end(instance)
        while len(self._lanes) > self._lanes_max:
            self._lanes.popitem(last=False)
        return lane

    def _refresh(self, instance: str, lane: _Lane, now: datetime) -> None:
        is_quiet = self._quiet_until is not None and now < self._quiet_until
        if lane.is_asking or is_quiet or self._stopping or len(self._asking) >= QUESTIONS_MAX:
            return
        if self._budget.take("lanes", per_minute=QUESTIONS_PER_MINUTE).wait_seconds:
            return
        lane.is_asking, lane.asked_at = True, now
        context = Context()  # the question belongs to no one send: neither to its trace nor to its transaction
        task = asyncio.get_running_loop().create_task(self._ask(instance, lane), name=self.name, context=context)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, instance: str, lane: _Lane) -> None:
        try:
            described = await self._questions.ask(DescribeLane(instance=instance))
            if isinstance(described, LaneDescribed):
                lane.forecast = Forecast(described, taken_at=self._clock())
            self._silence, self._quiet_until = SILENCE_MIN, None
        except RefusedError:
            self._quiet_until = self._clock() + self._silence
            self._silence = min(self._silence * 2, SILENCE_MAX)
        except Exception as error:
            logger.exception("forecast_failed", error=error)
        finally:
            lane.is_asking = False
