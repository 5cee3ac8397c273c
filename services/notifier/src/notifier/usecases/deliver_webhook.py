"""Claims deliveries that are due and carries each out: committed before the call, settled after it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid4

from prometheus_client import Counter, Histogram

from chassis.clock import Clock
from chassis.database import Database, UnavailableError
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing, SealError
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import registry
from contracts.delivery_questions import DeliveryState
from contracts.values import MessageRef
from notifier.domain.delivery import Answered, Claimed, Evidence, Unanswered, Verdict, decide
from notifier.domain.problems import Problem
from notifier.domain.schedule import Schedule
from notifier.domain.settlement import Settlement
from notifier.domain.signature import headers_of
from notifier.store import claims
from notifier.store.claims import Bounds

logger = get_logger(__name__)

TAKEN_BACK_AT_ONCE_MAX = 500
_SETTLE_PAUSE_SECONDS = 0.25
_DELIVERY_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400, 259_200)

attempts_total = Counter(
    "pilot_notifier_attempts_total", "Attempts at customers' webhooks by result", ["result"], registry=registry
)
delivery_seconds = Histogram(
    "pilot_notifier_delivery_seconds",
    "From a message's change of status to the customer's 2xx",
    buckets=_DELIVERY_BUCKETS,
    registry=registry,
)


class Poster(Protocol):
    """Posts to an address that a customer chose; every outcome is evidence, nothing is raised."""

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Evidence:
        """One bounded attempt, without redirects."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverWebhook:
    """At least once with the same `webhook-id`: an attempt whose process ends before it is settled is made again."""

    database: Database
    ring: KeyRing
    poster: Poster
    settlements: GroupCommit[Settlement, bool]
    schedule: Schedule
    bounds: Bounds
    clock: Clock
    dice: Callable[[], float]
    new_token: Callable[[], UUID] = uuid4

    async def claim(self, slots: int, *, now: datetime | None = None) -> Sequence[Claimed]:
        """Deliveries that are this process's to attempt; `now` replaces the database's clock in tests."""
        async with self.database.transaction() as tx:
            return await claims.claim(tx, slots=slots, bounds=self.bounds, token=self.new_token(), now=now)

    async def take_back(self, *, now: datetime | None = None) -> int:
        """Make due again what a process left behind; how many."""
        async with self.database.transaction() as tx:
            return await claims.take_back(tx, limit=TAKEN_BACK_AT_ONCE_MAX, now=now)

    async def carry_out(self, claimed: Claimed) -> None:
        """Post, judge, settle."""
        started_at = self.clock()
        evidence = await self._post(claimed, now=started_at)
        ended_at = self.clock()
        verdict = decide(evidence, claimed=claimed, schedule=self.schedule, now=ended_at, dice=self.dice())
        settlement = Settlement(
            claimed=claimed,
            verdict=verdict,
            started_at=started_at,
            ended_at=ended_at,
            sealed_response=self._kept_response(claimed, evidence),
        )
        settled = await self._settle(settlement)
        _tell(settlement, settled=settled)

    async def _post(self, claimed: Claimed, *, now: datetime) -> Evidence:
        try:
            secrets = [
                self.ring.open(sealed, aad=claimed.endpoint_id.bytes).decode()
                for sealed in (claimed.sealed_secret, claimed.previous_sealed_secret)
                if sealed is not None
            ]
            body = self.ring.open(claimed.sealed_body, aad=claimed.delivery_id.bytes)
        except SealError as error:
            logger.exception("delivery_unreadable", error=error, delivery_id=claimed.delivery_id)
            return Unanswered(problem=Problem.UNREADABLE)
        headers = headers_of(
            delivery_id=claimed.delivery_id,
            event=claimed.event,
            attempt=claimed.attempt,
            secrets=secrets,
            body=body,
            now=now,
        )
        return await self.poster.post(claimed.url, headers=headers, body=body)

    def _kept_response(self, claimed: Claimed, evidence: Evidence) -> str | None:
        """Of failures only: a success needs no explanation, and a customer's page may hold anything."""
        if isinstance(evidence, Answered) and evidence.excerpt and not evidence.is_success:
            return self.ring.seal(evidence.excerpt, aad=claimed.delivery_id.bytes)
        return None

    async def _settle(self, settlement: Settlement) -> bool:
        """False if the lease was lost first; an unavailable database is asked again for as long as the lease lasts."""
        while True:
            try:
                return await self.settlements.submit(settlement)
            except UnavailableError:
                if self.clock() >= settlement.claimed.lease_until:
                    return False
                await asyncio.sleep(_SETTLE_PAUSE_SECONDS)


def _tell(settlement: Settlement, *, settled: bool) -> None:
    claimed, verdict = settlement.claimed, settlement.verdict
    result = _result(verdict)
    attempts_total.labels(result=result).inc()
    if settled and verdict.state is DeliveryState.DELIVERED and claimed.attempts_before == 0:
        delivery_seconds.observe(max((settlement.ended_at - claimed.changed_at).total_seconds(), 0))
    logger.info(
        "delivery_attempted",
        delivery_id=claimed.delivery_id,
        endpoint_id=claimed.endpoint_id,
        number_id=claimed.ref.number_id,
        message_id=claimed.ref.message_id if isinstance(claimed.ref, MessageRef) else None,
        attempt=claimed.attempt,
        outcome=result,
        status=verdict.status,
        duration_ms=settlement.duration_ms,
        state=verdict.state.value if settled else "LEASE_LOST",
    )


def _result(verdict: Verdict) -> str:
    return verdict.problem.value.lower() if verdict.problem else "delivered"
