"""Carries out what was claimed: committed before the call, settled after it, never a transaction across it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pydantic import ValidationError

from chassis.database import UnavailableError
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from chassis.telemetry.tracing import SpanKind, span
from contracts.values import GatewayAccess, MessageContent
from dispatcher.domain.jobs import Attempt, SealedAccess
from dispatcher.domain.outbound import compose
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import Released, Verdict, decide, postponed, retry
from dispatcher.store.settling import Settlement
from dispatcher.usecases.leases import LeaseBook
from dispatcher.usecases.manners import Manners
from dispatcher.usecases.measures import ANSWERS_FENCED_OFF, ATTEMPTS, CALL_SECONDS, START_DELAY_SECONDS
from dispatcher.usecases.retry_budgets import RetryBudgets
from gateways.port import Access, Answer, Outbound, Sender, Unknown, UnknownReason

logger = get_logger(__name__)

SETTLE_PAUSE_SECONDS = 0.2
SETTLE_PAUSE_SECONDS_MAX = 2.0


async def keep_place(attempt: Attempt) -> bool:
    """For whoever has no lane to give a place back to."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOut:
    """Call the gateway once for a claimed attempt and settle what it answered.

    `give_up_place` is asked, once or more, when the answer does not come; True if others can now pass.
    """

    sender: Sender
    keys: KeyRing
    book: LeaseBook
    rules: Rules
    settling: GroupCommit[Settlement, bool]
    dice: Callable[[], float]
    manners: Manners = field(default_factory=Manners)
    budgets: RetryBudgets = field(default_factory=RetryBudgets)
    give_up_place: Callable[[Attempt], Awaitable[bool]] = keep_place

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
        try:
            outbound = await self._outbound(attempt)
        except (SealError, ValidationError) as error:
            logger.error("attempt_unreadable", error=error, message_id=attempt.ref.message_id)
            return retry("SEAL_BROKEN", attempt=attempt, now=self._now(attempt, claimed_at), dice=self.dice())
        await asyncio.sleep(max((attempt.leaves_at - self._now(attempt, claimed_at)).total_seconds(), 0.0))
        if not self._is_in_time(attempt, claimed_at):
            return Released(reason="TOO_LATE_TO_CALL")
        base_url = outbound.access.base_url
        if not self.budgets.allows(base_url, is_retry=attempt.is_retry):
            return postponed(attempt=attempt, now=self._now(attempt, claimed_at), dice=self.dice())
        answer = await self._call(self._unhurried(outbound, attempt, claimed_at), attempt, claimed_at)
        self.budgets.learn(base_url, answer, is_retry=attempt.is_retry)
        self.manners.learn(outbound.access, answer)
        now = self._now(attempt, claimed_at)
        return decide(answer, attempt=attempt, now=now, rules=self.rules, dice=self.dice())

    def _is_in_time(self, attempt: Attempt, claimed_at: float, *, ahead_seconds: float = 0.0) -> bool:
        """Whether a call that begins `ahead_seconds` from now begins inside its window and well inside its lease."""
        begins_at = self._now(attempt, claimed_at) + timedelta(seconds=ahead_seconds)
        lease_left = self.book.seconds_left(attempt) - ahead_seconds
        return lease_left >= self.book.lease.total_seconds() / 2 and begins_at < attempt.deliver_until

    def _unhurried(self, outbound: Outbound, attempt: Attempt, claimed_at: float) -> Outbound:
        """Typing only where the call would still begin in time after the longest it can take."""
        silent = replace(outbound, typing_ms=0)
        longest = self.sender.call_seconds_max(outbound) - self.sender.call_seconds_max(silent)
        return outbound if self._is_in_time(attempt, claimed_at, ahead_seconds=longest) else silent

    async def _call(self, outbound: Outbound, attempt: Attempt, claimed_at: float) -> Answer:
        started = self.book.monotonic()
        START_DELAY_SECONDS.observe((self._now(attempt, claimed_at) - attempt.leaves_at).total_seconds())
        call = asyncio.create_task(self._send(outbound), name="call")
        try:
            await self._let_others_pass(call, attempt, typing_seconds=outbound.typing_ms / 1_000)
            answer = await call
        finally:
            call.cancel()
        CALL_SECONDS.observe(self.book.monotonic() - started)
        return answer

    async def _let_others_pass(self, call: asyncio.Task[Answer], attempt: Attempt, *, typing_seconds: float) -> None:
        """Return once the call is answered or has given its place up; while it may not, ask again as patiently."""
        patience = self.rules.patience.total_seconds()
        await asyncio.wait({call}, timeout=patience + typing_seconds)
        while not call.done() and not await self.give_up_place(attempt):
            await asyncio.wait({call}, timeout=patience)

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

    async def _outbound(self, attempt: Attempt) -> Outbound:
        ref, policy = attempt.ref, attempt.policy
        content = MessageContent.model_validate_json(self.keys.open(attempt.sealed, aad=ref.message_id.bytes))
        access = open_access(self.keys, attempt.access, ref.instance)
        abilities = await self.manners.abilities(access, policy, content.part)
        composed = compose(content, ref=ref, access=access, policy=policy, abilities=abilities, dice=self.dice())
        return self.manners.adapted(composed)

    def _now(self, attempt: Attempt, claimed_at: float) -> datetime:
        """The database's clock, carried on from the claim by this process's monotonic one."""
        return attempt.started_at + timedelta(seconds=self.book.monotonic() - claimed_at)


def open_access(keys: KeyRing, sealed: SealedAccess, instance: str) -> Access:
    """A lane's way to its gateway; raises `SealError` or ValidationError."""
    access = GatewayAccess.model_validate_json(keys.open(sealed.sealed, aad=sealed.number_id.bytes))
    return Access(base_url=access.base_url, api_key=access.api_key, instance=instance)
