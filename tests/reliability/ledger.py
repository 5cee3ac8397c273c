"""Compares what was promised with what really left: every way in which a message can have gone wrong has a name."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from contracts.errors import ErrorCode
from contracts.status import RANK, Status

ENDS = frozenset({Status.SENT, Status.DELIVERED, Status.READ, Status.FAILED, Status.CANCELED})
LEFT = frozenset({Status.DISPATCHED, Status.SENT, Status.DELIVERED, Status.READ})
MAY_HAVE_LEFT = frozenset({ErrorCode.UNCONFIRMED, ErrorCode.DELIVERED_NOT_CONFIRMED})
"""Failures that do not deny that something was sent."""


class Wrong(StrEnum):
    """What can be wrong."""

    LOST = "LOST"
    DUPLICATE = "DUPLICATE"
    PHANTOM = "PHANTOM"
    LATE = "LATE"
    FALSE_FAILED = "FALSE_FAILED"
    FALSE_SENT = "FALSE_SENT"
    REGRESSED = "REGRESSED"
    WEBHOOK_MISSING = "WEBHOOK_MISSING"
    WEBHOOK_DOUBLED = "WEBHOOK_DOUBLED"
    TOO_SOON = "TOO_SOON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A message as its client knows it. `name` is its text: each message of a ledger has a text of its own."""

    name: str
    status: Status
    error_code: ErrorCode | None = None
    duplicate_possible: bool = False
    deliver_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A send that the gateway really accepted."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What is wrong with which message."""

    wrong: Wrong
    name: str


def sends_of(rows: Iterable[Mapping[str, Any]]) -> list[Send]:
    """The gateway simulator's ledger."""
    return [Send(name=row["text"], at=datetime.fromisoformat(row["at"])) for row in rows]


def balance(promises: Sequence[Promise], sends: Sequence[Send]) -> list[Violation]:
    """Everything that is wrong between promises and sends; empty if all is well."""
    counted = Counter(send.name for send in sends)
    found = [Violation(wrong=Wrong.PHANTOM, name=name) for name in counted.keys() - {one.name for one in promises}]
    for promise in promises:
        found += [Violation(wrong=wrong, name=promise.name) for wrong in _wrongs(promise, counted[promise.name])]
    until = {promise.name: promise.deliver_until for promise in promises}
    found += [
        Violation(wrong=Wrong.LATE, name=send.name)
        for send in sends
        if (end := until.get(send.name)) is not None and send.at > end
    ]
    return found


def _wrongs(promise: Promise, sends: int) -> Iterable[Wrong]:
    if promise.status not in ENDS:
        yield Wrong.LOST
    if sends > 1 and not promise.duplicate_possible:
        yield Wrong.DUPLICATE
    if sends == 0 and promise.status in LEFT:
        yield Wrong.FALSE_SENT
    may_have_left = promise.duplicate_possible or promise.error_code in MAY_HAVE_LEFT
    if sends > 0 and promise.status is Status.CANCELED:
        yield Wrong.FALSE_FAILED
    if sends > 0 and promise.status is Status.FAILED and not may_have_left:
        yield Wrong.FALSE_FAILED


def balance_told(promises: Sequence[Promise], told: Sequence[tuple[str, Status]]) -> list[Violation]:
    """What is wrong with the statuses that a customer's endpoint was told of, in the order of its own record.

    Each status may be told once in effect, none may fall behind, and the last is the one that holds.
    """
    by_name: defaultdict[str, list[Status]] = defaultdict(list)
    for name, status in told:
        by_name[name].append(status)
    found: list[Violation] = []
    for promise in promises:
        heard = by_name[promise.name]
        if promise.status not in heard and promise.status is not Status.QUEUED:
            found.append(Violation(wrong=Wrong.WEBHOOK_MISSING, name=promise.name))
        if len(set(heard)) < len(heard):
            found.append(Violation(wrong=Wrong.WEBHOOK_DOUBLED, name=promise.name))
        if any(RANK[later] < RANK[earlier] for earlier, later in pairwise(heard)):
            found.append(Violation(wrong=Wrong.REGRESSED, name=promise.name))
    return found


def too_soon(sends: Sequence[Send], *, gap_seconds: float, slack_seconds: float = 0.0) -> list[Violation]:
    """Sends of one lane that follow the one before them by less than its gap."""
    ordered = sorted(sends, key=lambda send: send.at)
    return [
        Violation(wrong=Wrong.TOO_SOON, name=later.name)
        for earlier, later in pairwise(ordered)
        if (later.at - earlier.at).total_seconds() < gap_seconds - slack_seconds
    ]
