"""Lets others of a lane pass a call that is not answered, without another call ever being made for it."""

from collections.abc import Callable
from dataclasses import dataclass

from chassis.database import Database, UnavailableError
from chassis.telemetry.logs import get_logger
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import PLACES_GIVEN_UP_MAX
from dispatcher.store import lanes, places
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import PLACES_ASKED_BACK

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpPlace:
    """An attempt under way stops counting as one of its lane's calls in flight; whoever ends it frees nothing more."""

    database: Database
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self, attempt: Attempt) -> bool:
        """True if the place is free now; False if the attempt keeps it, or its lane could not be told. Never raises:
        a call is under way."""
        try:
            is_free = await self._give_up(attempt)
        except Exception as error:
            PLACES_ASKED_BACK.labels(outcome="failed").inc()
            if isinstance(error, UnavailableError):
                logger.warning("place_not_given_up", message_id=attempt.ref.message_id)
            else:
                logger.exception("place_not_given_up", message_id=attempt.ref.message_id)
            return False
        PLACES_ASKED_BACK.labels(outcome="given_up" if is_free else "kept").inc()
        if is_free:
            logger.warning("place_given_up", message_id=attempt.ref.message_id, attempt=attempt.attempt)
            self.wake()
        return is_free

    async def _give_up(self, attempt: Attempt) -> bool:
        instance, now = attempt.ref.instance, given(self.clock)
        async with self.database.transaction() as tx:
            if not await places.lock_held(tx, attempt):
                return False
            await lanes.lock(tx, [instance])
            is_free = await places.give_up(tx, attempt, places_max=PLACES_GIVEN_UP_MAX, now=now)
            if is_free:
                await lanes.free(tx, {instance: 1}, now=now)
        return is_free
