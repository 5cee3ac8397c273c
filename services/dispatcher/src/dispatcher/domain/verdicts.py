"""What follows from a gateway's answer: the one table of answer → job → lane."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from contracts.errors import ErrorCode
from contracts.values import Category
from dispatcher.domain.jobs import Attempt
from dispatcher.domain.rules import RESEND_MARGIN, Rules, resends_when_unresolved, retry_backoff
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """The gateway took it."""

    key_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It will not be sent; `closes_lane` if the same would happen to every other message of the number."""

    code: ErrorCode
    detail: str = ""
    closes_lane: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Certainly not sent; due again later."""

    reason: str
    next_attempt_at: datetime
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Certainly not sent because the number is disconnected: it waits with the lane and is first in line again."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The call was never begun: the job is as good as before, due again at `not_before` or at once."""

    reason: str
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertain:
    """Nobody can say; evidence decides from `resolve_after` on, policy at `resolve_by`."""

    reason: str
    resolve_after: datetime
    resolve_by: datetime
    detail: str = ""


Verdict = Dispatched | Failed | Retry | Held | Released | Uncertain

ERROR_OF = {
    RefusalCode.WHATSAPP_NOT_EXIST: ErrorCode.WHATSAPP_NOT_EXIST,
    RefusalCode.INSTANCE_NOT_FOUND: ErrorCode.LINKED_WHATSAPP_INSTANCE_NOT_FOUND,
    RefusalCode.GATEWAY_AUTH_FAILED: ErrorCode.GATEWAY_AUTH_FAILED,
    RefusalCode.GATEWAY_REFUSED: ErrorCode.GATEWAY_REFUSED,
}

CLOSING = frozenset({RefusalCode.INSTANCE_NOT_FOUND, RefusalCode.GATEWAY_AUTH_FAILED})

DISCONNECTED = frozenset({NotSentReason.DISCONNECTED, NotSentReason.INSTANCE_NOT_READY})

LEASE_LOST = "LEASE_LOST"
RETRY_BUDGET = "RETRY_BUDGET"


def decide(answer: Answer, *, attempt: Attempt, now: datetime, rules: Rules, dice: float) -> Verdict:
    """Exhaustive: every answer has exactly one consequence."""
    match answer:
        case Taken():
            return Dispatched(key_id=answer.key_id)
        case Refused():
            return Failed(code=ERROR_OF[answer.code], detail=answer.detail[:200], closes_lane=answer.code in CLOSING)
        case NotSent():
            if answer.reason in DISCONNECTED:
                return Held(reason=answer.reason.value, detail=answer.detail[:200])
            wait = timedelta(seconds=max(answer.retry_after_seconds or 0.0, 0.0))
            return retry(
                answer.reason.value, attempt=attempt, now=now, dice=dice, not_before=wait, detail=answer.detail[:200]
            )
        case Unknown():
            return uncertain(answer.reason.value, attempt=attempt, rules=rules, detail=answer.detail[:200])
        case _:
            assert_never(answer)


def retry(
    reason: str,
    *,
    attempt: Attempt,
    now: datetime,
    dice: float,
    not_before: timedelta = timedelta(0),
    detail: str = "",
) -> Retry | Failed:
    """Due again by full-jitter backoff; failed now if that would not fit into the delivery window."""
    delay = max(retry_backoff(attempt.ref.category).delay(attempt.attempt, dice), not_before)
    left = attempt.deliver_until - now
    if delay >= left:
        return Failed(code=ErrorCode.EXPIRED_AFTER_ATTEMPTS, detail=detail or reason)
    return Retry(reason=reason, next_attempt_at=now + delay, detail=detail)


def postponed(*, attempt: Attempt, now: datetime, dice: float) -> Released:
    """A second try its gateway's budget has no room for: it waits as after another failure, at most half its time."""
    bound = timedelta(seconds=retry_backoff(attempt.ref.category).bound_seconds(attempt.attempt) * (0.5 + dice / 2))
    return Released(reason=RETRY_BUDGET, not_before=now + min(bound, (attempt.deliver_until - now) / 2))


def uncertain(reason: str, *, attempt: Attempt, rules: Rules, detail: str = "") -> Uncertain:
    """Open until evidence or the deadline."""
    after, by = resolution_window(
        category=attempt.ref.category,
        started_at=attempt.started_at,
        deliver_until=attempt.deliver_until,
        rules=rules,
    )
    return Uncertain(reason=reason, resolve_after=after, resolve_by=by, detail=detail)


def resolution_window(
    *, category: Category, started_at: datetime, deliver_until: datetime, rules: Rules
) -> tuple[datetime, datetime]:
    """When absence may first be believed, and when policy decides: early enough that a resend is not late."""
    after = started_at + rules.absence_believed_after
    by = started_at + rules.resolve_within
    if resends_when_unresolved(category):
        by = min(by, deliver_until - RESEND_MARGIN)
    return after, max(after, by)
