"""What one attempt at a delivery came to, and what follows from it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never
from uuid import UUID

from contracts.facts import WebhookDelivered, WebhookExhausted
from contracts.values import MessageRef
from notifier.domain.schedule import Schedule, retry_after
from notifier.domain.subjects import Ref
from notifier.domain.trial import TRIAL_EVENT

WORN_OUT_AFTER = timedelta(days=5)
WORN_OUT_FAILURES_MIN = 20
"""An endpoint is switched off when it failed this long and this often without one success in between."""

_GONE = 410


class State(StrEnum):
    """Of a delivery. A retry is PENDING again, due later."""

    PENDING = "PENDING"
    SENDING = "SENDING"
    DELIVERED = "DELIVERED"
    EXHAUSTED = "EXHAUSTED"


class Problem(StrEnum):
    """Why an attempt failed; the closed set of the delivery log and the metrics."""

    STATUS = "STATUS"
    REDIRECT = "REDIRECT"
    GONE = "GONE"
    TIMEOUT = "TIMEOUT"
    NAME_NOT_RESOLVED = "NAME_NOT_RESOLVED"
    FORBIDDEN_TARGET = "FORBIDDEN_TARGET"
    CONNECT_FAILED = "CONNECT_FAILED"
    TLS_FAILED = "TLS_FAILED"
    CONNECTION_LOST = "CONNECTION_LOST"
    INTERRUPTED = "INTERRUPTED"
    UNREADABLE = "UNREADABLE"


HINTS = {
    Problem.STATUS: "The endpoint answered with a status other than 2xx.",
    Problem.REDIRECT: "The endpoint redirects, and redirects are not followed: register the final URL.",
    Problem.GONE: "The endpoint answered 410, so it was switched off.",
    Problem.TIMEOUT: "The endpoint did not answer in time: answer first, work afterwards.",
    Problem.NAME_NOT_RESOLVED: "The host name cannot be resolved.",
    Problem.FORBIDDEN_TARGET: "The URL leads to an address that webhooks may not be sent to.",
    Problem.CONNECT_FAILED: "No connection could be made.",
    Problem.TLS_FAILED: "No secure connection could be made: check the certificate.",
    Problem.CONNECTION_LOST: "The connection ended before there was a complete answer.",
    Problem.INTERRUPTED: "Our own process ended during the attempt; it may have reached the endpoint.",
    Problem.UNREADABLE: "The stored delivery cannot be opened with the keys at hand.",
}
"""One sentence per problem, for the customer."""


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
    """A delivery this process may attempt now, until `lease_until`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What follows from an attempt: for the delivery, and (`disable`) for its endpoint."""

    state: State
    status: int | None = None
    problem: Problem | None = None
    due_at: datetime | None = None
    disable: Problem | None = None


def decide(evidence: Evidence, *, claimed: Claimed, schedule: Schedule, now: datetime, dice: float) -> Verdict:
    """A 2xx is success; 410 ends it; everything else is tried again while pauses are left."""
    match evidence:
        case Answered(status=status) if evidence.is_success:
            return Verdict(state=State.DELIVERED, status=status)
        case Answered(status=status) if status == _GONE:
            return Verdict(state=State.EXHAUSTED, status=status, problem=Problem.GONE, disable=Problem.GONE)
        case Answered(status=status, retry_after=asked):
            problem = Problem.REDIRECT if 300 <= status < 400 else Problem.STATUS
            failed = _Failed(problem=problem, status=status, wait=retry_after(asked, now=now))
        case Unanswered(problem=problem):
            failed = _Failed(problem=problem)
        case _:
            assert_never(evidence)
    return _again_or_never(failed, claimed=claimed, pause=schedule.pause(claimed.attempt, dice=dice), now=now)


def fact_of(claimed: Claimed, verdict: Verdict, *, now: datetime) -> WebhookDelivered | WebhookExhausted | None:
    """What the other services are told of a delivery about a message that is over; of a trial nothing."""
    if claimed.event == TRIAL_EVENT or not isinstance(claimed.ref, MessageRef):
        return None
    kind: type[WebhookDelivered] | type[WebhookExhausted]
    match verdict.state:
        case State.DELIVERED:
            kind = WebhookDelivered
        case State.EXHAUSTED:
            kind = WebhookExhausted
        case State.PENDING | State.SENDING:
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
        state=State.EXHAUSTED if pause is None else State.PENDING,
        status=failed.status,
        problem=failed.problem,
        due_at=None if pause is None else now + max(pause, failed.wait),
        disable=disable,
    )


def _worn_out(claimed: Claimed, now: datetime) -> bool:
    since = claimed.failing_since
    return since is not None and now - since >= WORN_OUT_AFTER and claimed.failures + 1 >= WORN_OUT_FAILURES_MIN
