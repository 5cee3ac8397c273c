"""What one attempt at a delivery came to, and what follows from it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import assert_never
from uuid import UUID

from contracts.delivery_questions import DeliveryState
from contracts.facts import WebhookDelivered, WebhookExhausted
from contracts.values import MessageRef
from notifier.domain.problems import Problem
from notifier.domain.schedule import Schedule, retry_after
from notifier.domain.subjects import Ref
from notifier.domain.trial import TRIAL_EVENT

WORN_OUT_AFTER = timedelta(days=5)
WORN_OUT_FAILURES_MIN = 20
"""An endpoint is switched off when it failed this long and this often without one success in between."""

_GONE = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The endpoint answered; `excerpt` is the beginning of the body, `retry_after` the header as it came."""

    status: int
    retry_after: str | None = None
    excerpt: bytes = field(default=b"", repr=False)

    @property
    def is_success(self) -> bool:
        """Any 2xx, whatever the body says."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """There was no answer."""

    problem: Problem


Evidence = Answered | Unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A delivery this process may attempt now, until `lease_until`.

    `attempts_before` were made before it was replayed: a replay begins the schedule anew.
    """

    delivery_id: UUID
    endpoint_id: UUID
    ref: Ref
    event: str
    changed_at: datetime
    attempt: int
    lease_token: UUID
    lease_until: datetime
    url: str = field(repr=False)
    sealed_secret: str = field(repr=False)
    sealed_body: str = field(repr=False)
    failures: int
    failing_since: datetime | None
    previous_sealed_secret: str | None = field(default=None, repr=False)
    attempts_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What follows from an attempt: for the delivery, and (`disable`) for its endpoint."""

    state: DeliveryState
    status: int | None = None
    problem: Problem | None = None
    due_at: datetime | None = None
    disable: Problem | None = None


def decide(evidence: Evidence, *, claimed: Claimed, schedule: Schedule, now: datetime, dice: float) -> Verdict:
    """A 2xx is success; 410 ends it; everything else is tried again while pauses are left."""
    match evidence:
        case Answered(status=status) if evidence.is_success:
            return Verdict(state=DeliveryState.DELIVERED, status=status)
        case Answered(status=status) if status == _GONE:
            return Verdict(state=DeliveryState.EXHAUSTED, status=status, problem=Problem.GONE, disable=Problem.GONE)
        case Answered(status=status, retry_after=asked):
            problem = Problem.REDIRECT if 300 <= status < 400 else Problem.STATUS
            failed = _Failed(problem=problem, status=status, wait=retry_after(asked, now=now))
        case Unanswered(problem=problem):
            failed = _Failed(problem=problem)
        case _:
            assert_never(evidence)
    pause = schedule.pause(claimed.attempt - claimed.attempts_before, dice=dice)
    return _again_or_never(failed, claimed=claimed, pause=pause, now=now)


def fact_of(claimed: Claimed, verdict: Verdict, *, now: datetime) -> WebhookDelivered | WebhookExhausted | None:
    """What the other services are told of a delivery about a message that is over; of a trial nothing."""
    if claimed.event == TRIAL_EVENT or not isinstance(claimed.ref, MessageRef):
        return None
    kind: type[WebhookDelivered] | type[WebhookExhausted]
    match verdict.state:
        case DeliveryState.DELIVERED:
            kind = WebhookDelivered
        case DeliveryState.EXHAUSTED:
            kind = WebhookExhausted
        case DeliveryState.PENDING | DeliveryState.SENDING:
            return None
        case _:
            assert_never(verdict.state)
    return kind(
        ref=claimed.ref,
        endpoint_id=claimed.endpoint_id,
        delivery_id=claimed.delivery_id,
        event=claimed.event,
        attempts=claimed.attempt,
        last_status=verdict.status,
        at=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    problem: Problem
    status: int | None = None
    wait: timedelta = timedelta()


def _again_or_never(failed: _Failed, *, claimed: Claimed, pause: timedelta | None, now: datetime) -> Verdict:
    disable = failed.problem if _worn_out(claimed, now) else None
    return Verdict(
        state=DeliveryState.EXHAUSTED if pause is None else DeliveryState.PENDING,
        status=failed.status,
        problem=failed.problem,
        due_at=None if pause is None else now + max(pause, failed.wait),
        disable=disable,
    )


def _worn_out(claimed: Claimed, now: datetime) -> bool:
    since = claimed.failing_since
    return since is not None and now - since >= WORN_OUT_AFTER and claimed.failures + 1 >= WORN_OUT_FAILURES_MIN
