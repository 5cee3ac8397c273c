"""An erasure as a value, and when it goes on: messages are gone through once at once, and once when all is quiet."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

SETTLING: Final = timedelta(seconds=60)
"""What was on its way when the first walk ended has arrived by then: facts in outboxes, calls, webhooks."""

AGAIN_AFTER: Final = timedelta(seconds=30)
"""While messages wait for an end that cannot be hastened."""

LAST_WALK: Final = 2


class ErasureState(StrEnum):
    """How far it has come."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """A row of erasures; `tenant_id` is None where every tenant is meant."""

    erasure_id: UUID
    tenant_id: UUID | None
    recipient_hash: str = field(repr=False)
    sealed_recipient: str | None = field(repr=False)
    requested_at: datetime
    walk: int
    cursor: UUID | None
    messages_forgotten: int
    messages_canceled: int
    messages_waiting: int
    profiles_deleted: int
    opt_ins_revoked: int
    completed_at: datetime | None

    @property
    def state(self) -> ErasureState:
        """As operators see it."""
        return ErasureState.RUNNING if self.completed_at is None else ErasureState.COMPLETED


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A message that has not been dispatched yet, as far as we know."""

    message_id: UUID
    tenant_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one bite changes in the row. `wait` is until the next look."""

    walk: int
    cursor: UUID | None
    forgotten: int
    waiting: int
    wait: timedelta
    is_done: bool = False


def must_wait(erasure: Erasure, *, waiting: int) -> bool:
    """The last walk begins only when no message is left that may still be sent."""
    return erasure.walk == LAST_WALK and erasure.cursor is None and waiting > 0


def postponed(erasure: Erasure, *, waiting: int) -> Progress:
    """Nothing can be done now."""
    return Progress(walk=erasure.walk, cursor=None, forgotten=0, waiting=waiting, wait=AGAIN_AFTER)


def progress(erasure: Erasure, *, last: UUID | None, forgotten: int, waiting: int) -> Progress:
    """After a bite; `last` is its last message, None if the walk is at its end."""
    if last is not None:
        return Progress(walk=erasure.walk, cursor=last, forgotten=forgotten, waiting=waiting, wait=timedelta(0))
    is_done = erasure.walk == LAST_WALK
    return Progress(walk=LAST_WALK, cursor=None, forgotten=forgotten, waiting=waiting, wait=SETTLING, is_done=is_done)
