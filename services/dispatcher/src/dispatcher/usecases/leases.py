"""Keeps the leases of calls under way, and takes away those that nobody keeps."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from chassis.database import Database
from contracts.facts import MessageUncertain
from dispatcher.domain.jobs import Attempt, JobKey
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import LEASE_LOST, resolution_window
from dispatcher.store import lanes, leases
from dispatcher.store.leases import Lost, MarkedLost
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.measures import LEASES_LOST

BATCH = 200


@dataclass(slots=True)
class LeaseBook:
    """The leases this process holds, measured on its own monotonic clock from before each was asked for."""

    lease: timedelta
    monotonic: Callable[[], float] = time.monotonic
    _until: dict[tuple[JobKey, UUID], float] = field(default_factory=dict)

    @contextmanager
    def holding(self, attempt: Attempt, claimed_at: float) -> Iterator[None]:
        """The lease is renewed while the block runs. `claimed_at` is the monotonic time before the claim."""
        entry = (attempt.key, attempt.lease_token)
        self._until[entry] = claimed_at + self.lease.total_seconds()
        try:
            yield
        finally:
            self._until.pop(entry, None)

    def seconds_left(self, attempt: Attempt) -> float:
        """How long nobody else may touch the attempt, at least."""
        return self._until.get((attempt.key, attempt.lease_token), 0.0) - self.monotonic()

    def held(self) -> list[tuple[JobKey, UUID]]:
        """Every lease under way."""
        return list(self._until)

    def renewed(self, tokens: set[UUID], asked_at: float) -> None:
        """These leases run anew from `asked_at`."""
        for entry in self._until:
            if entry[1] in tokens:
                self._until[entry] = asked_at + self.lease.total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewLeases:
    """Prolong what this process holds."""

    database: Database
    book: LeaseBook
    clock: Clock = None

    async def __call__(self) -> int:
        """How many still hold."""
        held = self.book.held()
        if not held:
            return 0
        asked_at = self.book.monotonic()
        async with self.database.transaction() as tx:
            tokens = await leases.renew(tx, held, lease=self.book.lease, now=given(self.clock))
        self.book.renewed(tokens, asked_at)
        return len(tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireLeases:
    """An attempt whose lease ran out is uncertain: its caller may have called before it died."""

    database: Database
    rules: Rules
    wake: Callable[[], None]
    clock: Clock = None

    async def __call__(self) -> int:
        """How many were lost, at most one batch."""
        async with self.database.transaction() as tx:
            lost = await leases.take_lost(tx, limit=BATCH, now=given(self.clock))
            if not lost:
                return 0
            marked = [self._marked(one) for one in lost]
            await leases.mark_lost(tx, marked)
            ended = Counter(one.ref.instance for one in lost if one.holds_place)
            await lanes.lock(tx, ended)
            await lanes.free(tx, ended, now=given(self.clock))
            tx.emit(*(_fact(one) for one in marked))
        LEASES_LOST.inc(len(lost))
        self.wake()
        return len(lost)

    def _marked(self, lost: Lost) -> MarkedLost:
        after, by = resolution_window(
            category=lost.ref.category,
            started_at=lost.started_at,
            deliver_until=lost.deliver_until,
            rules=self.rules,
        )
        return MarkedLost(lost=lost, reason=LEASE_LOST, resolve_after=after, resolve_by=by)


def _fact(marked: MarkedLost) -> MessageUncertain:
    return MessageUncertain(
        ref=marked.lost.ref, attempt=marked.lost.attempt, reason=marked.reason, resolve_by=marked.resolve_by
    )
