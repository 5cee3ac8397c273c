"""Claims what is due and carries it out: committed before the call, settled after it, never a transaction across it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from chassis.database import Database, UnavailableError
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from chassis.telemetry.tracing import SpanKind, span
from contracts.facts import MessageDispatchFailed
from contracts.matching import holds_link
from contracts.values import GatewayAccess, MessageContent
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import Released, Verdict, decide, retry
from dispatcher.store import claiming
from dispatcher.store.settling import Settlement
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.leases import LeaseBook
from dispatcher.usecases.measures import ANSWERS_FENCED_OFF, ATTEMPTS, CALL_SECONDS, EXPIRED, START_DELAY_SECONDS
from gateways.port import Access, Answer, Outbound, Sender, Unknown, UnknownReason

logger = get_logger(__name__)

BATCH = 500
SETTLE_PAUSE_SECONDS = 0.2
SETTLE_PAUSE_SECONDS_MAX = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """Attempts to carry out, and the monotonic time before they were claimed."""

    attempts: Sequence[Attempt]
    claimed_at: float
    seconds_until_work: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDue:
    """Bring due jobs forward, fail those that are too late, claim what lanes may send now."""

    database: Database
    rules: Rules
    clock: Clock = None
    dice: Callable[[], float] | None = None

    async def __call__(self, capacity: int) -> Claimed:
        """Up to `capacity` attempts, at most one open attempt per job."""
        claimed_at, now = time.monotonic(), given(self.clock)
        async with self.database.transaction() as tx:
            await claiming.promote_due(tx, limit=BATCH, now=now)
            expired = await claiming.fail_expired(tx, limit=BATCH, now=now)
            attempts = await claiming.claim(
                tx, capacity=capacity, lease=self.rules.lease, now=now, dice=self.dice() if self.dice else None
            )
            wait = None if attempts else await claiming.seconds_until_work(tx, now=now)
            tx.emit(
                *(
                    MessageDispatchFailed(
                        ref=one.ref, attempt=one.attempt, error_code=one.code, failed_at=one.failed_at
                    )
                    for one in expired
                )
            )
        EXPIRED.inc(len(expired))
        return Claimed(attempts=attempts, claimed_at=claimed_at, seconds_until_work=wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOut:
    """Call the gateway once for a claimed attempt and settle what it answered."""

    sender: Sender
    keys: KeyRing
    book: LeaseBook
    rules: Rules
    settling: GroupCommit[Settlement, bool]
    dice: Callable[[], float]

    async def __call__(self, attempt: Attempt, claimed_at: float) -> Verdict:
        """The verdict, after it was settled or fenced off."""
        with self.book.holding(attempt, claimed_at), span("dispatch attempt", kind=SpanKind.CLIENT):
            verdict = await self._verdict(attempt, claimed_at)
            outcome = type(verdict).__name__.lower()
            settled = await self._settle(attempt, verdict, claimed_at)
        ATTEMPTS.labels(outcome=outcome).inc()
        if not settled:
            ANSWERS_FENCED_OFF.inc()
        logger.info(
            "attempt_ended" if settled else "attempt_fenced_off",
            message_id=attempt.ref.message_id,
            attempt=attempt.attempt,
            outcome=outcome,
            duration_ms=round((self.book.monotonic() - claimed_at) * 1_000, 1),
        )
        return verdict

    async def _verdict(self, attempt: Attempt, claimed_at: float) -> Verdict:
        now = self._now(attempt, claimed_at)
        if self.book.seconds_left(attempt) < self.book.lease.total_seconds() / 2 or now >= attempt.deliver_until:
            return Released(reason="TOO_LATE_TO_CALL")
        try:
            outbound = self._outbound(attempt)
        except (SealError, ValidationError) as error:
            logger.error("attempt_unreadable", error=error, message_id=attempt.ref.message_id)
            return retry("SEAL_BROKEN", attempt=attempt, now=now, dice=self.dice())
        started = self.book.monotonic()
        START_DELAY_SECONDS.observe(started - claimed_at)
        answer = await self._send(outbound)
        CALL_SECONDS.observe(self.book.monotonic() - started)
        now = self._now(attempt, claimed_at)
        return decide(answer, attempt=attempt, now=now, rules=self.rules, dice=self.dice())

    async def _send(self, outbound: Outbound) -> Answer:
        try:
            return await self.sender.send(outbound)
        except Exception:
            logger.exception("sender_failed")
            return Unknown(reason=UnknownReason.UNCLASSIFIED_ANSWER)

    async def _settle(self, attempt: Attempt, verdict: Verdict, claimed_at: float) -> bool:
        """Insist: the answer is known to nobody else. If the process dies first, the lease runs out."""
        pause = SETTLE_PAUSE_SECONDS
        while True:
            ended_at = self._now(attempt, claimed_at)
            try:
                return await self.settling.submit(Settlement(attempt=attempt, verdict=verdict, ended_at=ended_at))
            except UnavailableError:
                logger.warning("settle_unavailable", message_id=attempt.ref.message_id)
                await asyncio.sleep(pause)
                pause = min(pause * 2, SETTLE_PAUSE_SECONDS_MAX)

    def _outbound(self, attempt: Attempt) -> Outbound:
        ref = attempt.ref
        content = MessageContent.model_validate_json(self.keys.open(attempt.sealed, aad=ref.message_id.bytes))
        access = open_access(self.keys, attempt.access, ref.instance)
        return Outbound(
            access=access,
            recipient=content.to,
            text=content.text,
            part=content.part,
            link_preview=holds_link(content),
        )

    def _now(self, attempt: Attempt, claimed_at: float) -> datetime:
        """The database's clock, carried on from the claim by this process's monotonic one."""
        return attempt.started_at + timedelta(seconds=self.book.monotonic() - claimed_at)


def open_access(keys: KeyRing, sealed: SealedAccess, instance: str) -> Access:
    """A lane's way to its gateway; raises `SealError` or ValidationError."""
    access = GatewayAccess.model_validate_json(keys.open(sealed.sealed, aad=sealed.number_id.bytes))
    return Access(base_url=access.base_url, api_key=access.api_key, instance=instance)
