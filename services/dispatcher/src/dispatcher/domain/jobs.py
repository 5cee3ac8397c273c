"""A message on its way out: the states of its job and one attempt to send it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from contracts.values import Category, MessageRef, PacingPolicy
from gateways.port import NotSentReason


class JobState(StrEnum):
    """Where a job is. Only SCHEDULED and READY jobs may ever be claimed."""

    SCHEDULED = "SCHEDULED"
    READY = "READY"
    IN_FLIGHT = "IN_FLIGHT"
    UNCERTAIN = "UNCERTAIN"
    DISPATCHED = "DISPATCHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


PRIORITY = {Category.OTP: 0, Category.UTILITY: 1, Category.MARKETING: 2}
"""The order of categories inside a lane: lower goes first."""

_NUMBER_AWAY = frozenset({NotSentReason.DISCONNECTED.value, NotSentReason.INSTANCE_NOT_READY.value})

JobKey = tuple[UUID, int]
"""Message id and round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedAccess:
    """A lane's way to its gateway; the associated data is the id of the lane's number."""

    number_id: UUID
    sealed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A claimed job: committed as IN_FLIGHT, not called yet. Attempt number and lease token fence what settles it.

    It is not called before `leaves_at`. `waited_for` is the reason why it was not sent before.
    """

    ref: MessageRef
    attempt: int
    lease_token: UUID
    started_at: datetime
    leaves_at: datetime
    deliver_until: datetime
    sealed: str
    access: SealedAccess
    recipient_hash: str
    text_hash: str
    duplicate_possible: bool = False
    policy: PacingPolicy = field(default_factory=PacingPolicy)
    waited_for: str | None = None

    @property
    def key(self) -> JobKey:
        """Which job this is an attempt of."""
        return self.ref.message_id, self.ref.round

    @property
    def is_retry(self) -> bool:
        """Whether this is another call for what was called before. Claims without a call do not count, nor what waited
        for its number to be connected: how often that is tried is up to the lane."""
        return self.attempt > 1 and self.waited_for not in _NUMBER_AWAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A job with an attempt whose outcome nobody knows yet. `since` is when the first such attempt started."""

    ref: MessageRef
    state: JobState
    attempt: int
    since: datetime
    started_at: datetime
    deliver_until: datetime
    resolve_after: datetime
    resolve_by: datetime
    check_failures: int
    duplicate_possible: bool
    sealed: str
    recipient_hash: str
    text_hash: str

    @property
    def key(self) -> JobKey:
        """Which job it is."""
        return self.ref.message_id, self.ref.round

    @property
    def content(self) -> tuple[str, str, str]:
        """What jobs share that say the same to the same person over the same number."""
        return self.ref.instance, self.recipient_hash, self.text_hash
