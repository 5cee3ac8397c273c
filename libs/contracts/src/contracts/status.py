"""The order of public statuses: of two reports about one message, which one is believed."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The public status of a message."""

    QUEUED = "QUEUED"
    DISPATCHED = "DISPATCHED"
    SENT = "SENT"
    DELIVERED = "DELIVERED"
    READ = "READ"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


RANK = {
    Status.QUEUED: 0,
    Status.DISPATCHED: 1,
    Status.SENT: 2,
    Status.FAILED: 3,
    Status.DELIVERED: 4,
    Status.READ: 5,
    Status.CANCELED: 6,
}
"""Higher is believed. CANCELED tops the order because it is final, and is only reachable from QUEUED."""


@dataclass(frozen=True, slots=True, order=False)
class Progress:
    """How far a message has come: its round and the status within that round."""

    round: int
    status: Status


def advance(known: Progress, reported: Progress) -> Progress:
    """Whichever of the two is believed: later round first, then higher rank; repeats and disorder change nothing."""
    return reported if outranks(reported, known) else known


def outranks(reported: Progress, known: Progress) -> bool:
    """True if `reported` moves a message on from `known`."""
    if reported.round != known.round:
        return reported.round > known.round
    if reported.status is Status.CANCELED:
        return known.status is Status.QUEUED
    return RANK[reported.status] > RANK[known.status]


FINAL = frozenset({Status.READ, Status.DELIVERED, Status.FAILED, Status.CANCELED})
"""Statuses after which a message needs no more work from us (a receipt may still improve on some)."""
