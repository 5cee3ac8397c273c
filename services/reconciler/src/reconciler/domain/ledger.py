"""What each fact means for the ledger: proof, a promise, silence from now on, or the end of the matter."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, assert_never

from contracts.commands import RequeueMessage
from contracts.errors import ErrorCode
from contracts.facts import (
    MessageAccepted,
    MessageDeferred,
    MessageDispatchCanceled,
    MessageDispatched,
    MessageDispatchFailed,
    MessageLost,
    MessageReturned,
    MessageStatusChanged,
    MessageUncertain,
)
from contracts.status import Status
from contracts.values import MessageRef

HELD_LOOK_AFTER: Final = timedelta(minutes=10)
"""A message held without a next attempt (number closed, paused) is asked about again this long after it was said."""

CLOSING: Final = frozenset({Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED, Status.CANCELED})
"""Statuses after which nothing needs to be put back to work."""

LedgerFact = (
    MessageAccepted
    | MessageDispatched
    | MessageDeferred
    | MessageUncertain
    | MessageDispatchFailed
    | MessageDispatchCanceled
    | MessageReturned
    | MessageStatusChanged
)


class Evidence(StrEnum):
    """The last the dispatcher was heard to say about a message."""

    NONE = "NONE"
    DEFERRED = "DEFERRED"
    UNCERTAIN = "UNCERTAIN"
    DISPATCHED = "DISPATCHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


WEIGHT: Final = {
    Evidence.NONE: 0,
    Evidence.DEFERRED: 1,
    Evidence.UNCERTAIN: 1,
    Evidence.DISPATCHED: 2,
    Evidence.FAILED: 2,
    Evidence.CANCELED: 2,
}
"""Heavier evidence is believed; of equal weight, the later."""

_EVIDENCE_OF: Final = {Status.QUEUED: Evidence.NONE, Status.CANCELED: Evidence.CANCELED}
"""What a public status proves, where it is not that the message left."""

CONCLUSIVE: Final = 2
"""From this weight on a message is never put back to work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one fact adds to a row; the store folds it in so that the order of facts does not matter."""

    ref: MessageRef
    accepted: MessageAccepted | None = field(default=None, repr=False)
    evidence: Evidence = Evidence.NONE
    evidence_at: datetime | None = None
    look_at: datetime | None = None
    status: Status | None = None
    status_version: int | None = None
    closed_at: datetime | None = None
    key_id: str | None = None
    dispatched_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicious:
    """A message that has been silent for too long, just marked as put back to work."""

    accepted: MessageAccepted = field(repr=False)
    evidence: Evidence
    requeues: int
    is_unanswered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forsaken:
    """A message nobody worked although asked, past its deadline and the recovery SLA."""

    ref: MessageRef
    evidence: Evidence
    lost_at: datetime


@dataclass(frozen=True, slots=True)
class Hearing:
    """Since when answers could have been heard without a gap; None while they cannot."""

    since: datetime | None = None

    def observed(self, *, is_connected: bool, now: datetime) -> "Hearing":
        """The state after another look at the connection."""
        if not is_connected:
            return Hearing()
        return self if self.since is not None else replace(self, since=now)


def entry_of(fact: LedgerFact, *, occurred_at: datetime, grace: timedelta) -> Entry:
    """What `fact`, said at `occurred_at`, adds to its message's row."""
    match fact:
        case MessageAccepted(ref=ref):
            return Entry(ref=ref, accepted=fact, look_at=fact.deliver_by + grace)
        case MessageDeferred(ref=ref, next_attempt_at=next_attempt_at):
            silent_until = max(next_attempt_at, occurred_at) if next_attempt_at else occurred_at + HELD_LOOK_AFTER
            return _evidence(ref, Evidence.DEFERRED, occurred_at, silent_until + grace)
        case MessageUncertain(ref=ref, resolve_by=resolve_by):
            return _evidence(ref, Evidence.UNCERTAIN, occurred_at, max(resolve_by, occurred_at) + grace)
        case MessageReturned(ref=ref, accepted=accepted):
            evidence = Evidence.UNCERTAIN if fact.possibly_sent else Evidence.DEFERRED
            look_at = occurred_at if fact.possibly_sent else max(accepted.deliver_by, occurred_at)
            return replace(_evidence(ref, evidence, occurred_at, look_at), accepted=accepted)
        case MessageDispatched(ref=ref):
            left = _evidence(ref, Evidence.DISPATCHED, occurred_at)
            return replace(left, key_id=fact.key_id, dispatched_at=fact.dispatched_at)
        case MessageDispatchFailed(ref=ref):
            return _evidence(ref, Evidence.FAILED, occurred_at)
        case MessageDispatchCanceled(ref=ref):
            return replace(_evidence(ref, Evidence.CANCELED, occurred_at), closed_at=occurred_at)
        case MessageStatusChanged(ref=ref):
            return replace(
                _evidence(ref, _EVIDENCE_OF.get(fact.status, Evidence.DISPATCHED), occurred_at),
                status=fact.status,
                status_version=fact.version,
                key_id=fact.key_id,
                closed_at=occurred_at if fact.status in CLOSING else None,
            )
    assert_never(fact)


def requeue(found: Suspicious) -> RequeueMessage:
    """Ask the dispatcher to put a message to work. What may have been sent must not be started afresh."""
    return RequeueMessage(
        ref=found.accepted.ref,
        accepted=found.accepted,
        possibly_sent=found.evidence is Evidence.UNCERTAIN,
    )


def verdict(found: Forsaken) -> MessageLost:
    """Nobody ever worked it, or it was deferred past the end of its window by a dispatcher that fell silent."""
    deferred = found.evidence is Evidence.DEFERRED
    code = ErrorCode.MESSAGE_EXPIRED if deferred else ErrorCode.DELIVERY_TIMEOUT
    return MessageLost(ref=found.ref, error_code=code, lost_at=found.lost_at)


def _evidence(ref: MessageRef, evidence: Evidence, at: datetime, look_at: datetime | None = None) -> Entry:
    return Entry(ref=ref, evidence=evidence, evidence_at=at, look_at=look_at)
