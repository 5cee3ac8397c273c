"""At start: was anybody at work? What fell due meanwhile goes back to work if it is recent, else it is not sent."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chassis.database import Database, Transaction, UnavailableError
from chassis.telemetry.logs import get_logger
from contracts.facts import MessageAccepted, MessageDispatchFailed
from dispatcher.domain.recovery import Outage, is_stale, outage_of
from dispatcher.store import recovery, restoring
from dispatcher.store.recovery import TimedOut
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.hand_back import HandBack
from dispatcher.usecases.measures import TIMED_OUT

logger = get_logger(__name__)

BATCH = 500
SETTLE_SECONDS = 5.0
REMEMBERED = timedelta(days=7)
"""How long after an outage a message that fell due in it may still arrive."""


@dataclass(slots=True, kw_only=True)
class Outages:
    """What this process knows of outages; `sla` None: whatever fell due is sent until its window closes.

    Nothing becomes READY or is claimed in this process before `settled` is set. `restored_at`: when the memory was
    last found to come from a dump.
    """

    sla: timedelta | None
    known: tuple[Outage, ...] = ()
    restored_at: datetime | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def known_by_now(self) -> None:
        """Returns once it is settled; raises `UnavailableError` if that takes too long."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await self.settled.wait()
        except TimeoutError:
            raise UnavailableError("it is not known yet whether anybody was at work") from None

    def is_stale(self, accepted: MessageAccepted) -> bool:
        """Whether a message fell due in an outage, too long before its end."""
        return self.sla is not None and is_stale(accepted.deliver_by, self.known, sla=self.sla)

    def may_have_left(self, accepted: MessageAccepted) -> bool:
        """Whether a message without a job may have been sent by what was lost in a restore."""
        return self.restored_at is not None and max(accepted.accepted_at, accepted.deliver_by) < self.restored_at

    def is_overdue(self, accepted: MessageAccepted, now: datetime) -> bool:
        """Whether a message whose work was lost is put back too late."""
        return self.sla is not None and accepted.deliver_by < now - self.sla


@dataclass(slots=True, kw_only=True)
class Recover:
    """The step of a loop: at first the outage that this start may end and what it made stale; a heartbeat each time."""

    database: Database
    outages: Outages
    wake: Callable[[], None]
    clock: Clock = None
    hand_back: HandBack = field(init=False)
    _is_begun: bool = False

    def __post_init__(self) -> None:
        self.hand_back = HandBack(database=self.database)

    async def __call__(self) -> bool:
        """True if there is more to fail or to give back at once; replicas that start together share it to its end."""
        if not self._is_begun:
            await self._begin()
            self._is_begun = True
        else:
            async with self.database.transaction() as tx:
                await recovery.beat(tx, now=given(self.clock))
        if self.outages.settled.is_set():
            return False
        if self.outages.restored_at is not None and await self.hand_back.step(self.outages.restored_at):
            return True
        if await self._fail_stale() > 0:
            return True
        if not await self._is_any_left():
            self.outages.settled.set()
            self.wake()
        return not self.outages.settled.is_set()

    async def _begin(self) -> None:
        async with self.database.transaction() as tx:
            last, now = await recovery.last_beat(tx, now=given(self.clock))
            outage = outage_of(last, now=now)
            if outage is not None:
                await recovery.record(tx, outage)
            is_restored = await restoring.notice_restore(tx, now=given(self.clock))
            if is_restored:
                await restoring.stop_calls(tx, now=given(self.clock))
            self.outages.restored_at = await restoring.last_restore(tx)
            await recovery.beat(tx, now=given(self.clock))
            self.outages.known = await recovery.outages(tx, age=REMEMBERED, now=given(self.clock))
        if outage is not None:
            seconds = (outage.ended_at - outage.began_at).total_seconds()
            logger.warning("nobody_was_at_work", duration_ms=round(seconds * 1_000))
        if is_restored:
            logger.error("restored_from_a_dump")

    async def _fail_stale(self) -> int:
        sla, known = self.outages.sla, self.outages.known
        if sla is None or not known:
            return 0
        async with self.database.transaction() as tx:
            failed = await recovery.fail_stale(tx, known, sla=sla, limit=BATCH, now=given(self.clock))
            tell_timed_out(tx, failed)
        return len(failed)

    async def _is_any_left(self) -> bool:
        sla, known = self.outages.sla, self.outages.known
        if sla is None or not known:
            return False
        async with self.database.transaction() as tx:
            return await recovery.is_any_stale(tx, known, sla=sla, now=given(self.clock))


def tell_timed_out(tx: Transaction, failed: Sequence[TimedOut]) -> None:
    """Say of each job that it was not sent late."""
    TIMED_OUT.inc(len(failed))
    tx.emit(
        *(
            MessageDispatchFailed(ref=one.ref, attempt=one.attempt, error_code=one.code, failed_at=one.failed_at)
            for one in failed
        )
    )
