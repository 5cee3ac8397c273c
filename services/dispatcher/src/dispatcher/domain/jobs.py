"""A message on its way out: the states of its job and one attempt to send it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from contracts.values import Category, MessageRef


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

JobKey = tuple[UUID, int]
"""Message id and round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedAccess:
    """A lane's way to its gateway; the associated data is the id of the lane's number."""

    number_id: UUID
    sealed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A claimed job: committed as IN_FLIGHT, not called yet. Attempt number and lease token fence what settles it."""

    ref: MessageRef
    attempt: int
    lease_token: UUID
    started_at: datetime
    deliver_until: datetime
    sealed: str
    access: SealedAccess
    recipient_hash: str
    text_hash: str
    duplicate_possible: bool = False

    @property
    def key(self) -> JobKey:
        """Which job this is an attempt of."""
        return self.ref.message_id, self.ref.round


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
