"""What becomes of messages that left and are not confirmed, and of those that are open after the longest time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contracts.commands import VerifyMessage
from contracts.errors import ErrorCode
from contracts.facts import MessageLost
from contracts.values import MessageRef
from reconciler.domain.ledger import Evidence

REPEATS_FROM: Final = 3
"""A message that was asked for so often needs somebody to look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unconfirmed:
    """The dispatcher said how it ended, and nobody confirmed it since; just marked as asked about."""

    ref: MessageRef
    key_id: str | None
    verifies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overaged:
    """Open after the longest time a message may be."""

    ref: MessageRef
    evidence: Evidence
    lost_at: datetime


def verify(found: Unconfirmed) -> VerifyMessage:
    """Ask for proof. A known key id is proof that it left: this never has anything sent."""
    return VerifyMessage(ref=found.ref, key_id=found.key_id)


def final_verdict(found: Overaged) -> MessageLost:
    """By the last that was heard of it; a receipt that still comes is believed more."""
    match found.evidence:
        case Evidence.DISPATCHED:
            code = ErrorCode.DELIVERED_NOT_CONFIRMED
        case Evidence.UNCERTAIN | Evidence.FAILED:
            code = ErrorCode.UNCONFIRMED
        case _:
            code = ErrorCode.NEVER_ATTEMPTED_MAX_AGE_EXCEEDED
    return MessageLost(ref=found.ref, error_code=code, lost_at=found.lost_at)
