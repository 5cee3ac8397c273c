"""What happened to a message on its way from acceptance to its final status."""

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from contracts.errors import ErrorCode
from contracts.facts.fact import MessageFact
from contracts.status import Status
from contracts.values import Digest, Sealed


class MessageAccepted(MessageFact):
    """The platform owes this message a final status. Said by api.

    `duplicate_possible`: an earlier round of it may have been sent.
    """

    TYPE: ClassVar[str] = "message.accepted.v1"

    deliver_by: AwareDatetime
    deliver_until: AwareDatetime
    urgent: bool = False
    tenant_weight: int = Field(default=1, ge=1, le=1_000)
    sealed: Sealed
    recipient_hash: Digest
    text_hash: Digest
    accepted_at: AwareDatetime
    duplicate_possible: bool = False

    def routing_key(self) -> str:
        """Straight into the number's own queue."""
        return f"message.accepted.{self.ref.instance}"


class Proof(StrEnum):
    """How we know that the gateway took a message."""

    RESPONSE = "response"
    ECHO = "echo"
    LOOKUP = "lookup"
    RECEIPT = "receipt"


class MessageDispatched(MessageFact):
    """The gateway took the message; `key_id` is WhatsApp's id for it. Said by dispatcher."""

    TYPE: ClassVar[str] = "message.dispatched.v1"

    attempt: int = Field(ge=1)
    key_id: str = Field(min_length=1, max_length=200)
    dispatched_at: AwareDatetime
    proof: Proof
    duplicate_possible: bool = False


class DeferReason(StrEnum):
    """Why a message waits although it was accepted."""

    NOT_DUE = "NOT_DUE"
    PACED = "PACED"
    RETRY = "RETRY"
    NUMBER_CLOSED = "NUMBER_CLOSED"
    PAUSED = "PAUSED"


class MessageDeferred(MessageFact):
    """The message waits, certainly unsent, until `next_attempt_at` or until the reason is gone. Said by dispatcher."""

    TYPE: ClassVar[str] = "message.deferred.v1"

    attempt: int = Field(ge=0)
    reason: DeferReason
    detail: str = Field(default="", max_length=200)
    next_attempt_at: AwareDatetime | None = None


class MessageUncertain(MessageFact):
    """An attempt ended without proof either way; evidence or `resolve_by` settles it. Said by dispatcher."""

    TYPE: ClassVar[str] = "message.uncertain.v1"

    attempt: int = Field(ge=1)
    reason: str = Field(max_length=200)
    resolve_by: AwareDatetime


class MessageDispatchFailed(MessageFact):
    """The message will not be sent (again). Said by dispatcher."""

    TYPE: ClassVar[str] = "message.dispatch_failed.v1"

    attempt: int = Field(ge=0)
    error_code: ErrorCode
    detail: str = Field(default="", max_length=200)
    failed_at: AwareDatetime


class MessageDispatchCanceled(MessageFact):
    """The message will never be sent, because it was canceled before any call to the gateway. Said by dispatcher."""

    TYPE: ClassVar[str] = "message.dispatch_canceled.v1"

    canceled_at: AwareDatetime


class MessageStatusChanged(MessageFact):
    """The public status moved, once per transition; `version` grows by one with each. Said by api alone."""

    TYPE: ClassVar[str] = "message.status_changed.v1"

    previous: Status
    status: Status
    changed_at: AwareDatetime
    version: int = Field(ge=2)
    error_code: ErrorCode | None = None
    key_id: str | None = Field(default=None, max_length=200)
    accepted_at: AwareDatetime
    sealed: Sealed | None = None
    """The webhook's snapshot: a sealed `MessageContent`; absent where nothing is kept."""


class MessageLost(MessageFact):
    """Nobody worked the message in time: the reconciler's verdict. Said by reconciler."""

    TYPE: ClassVar[str] = "message.lost.v1"

    error_code: ErrorCode
    lost_at: AwareDatetime


class MessageReturned(MessageFact):
    """The dispatcher's memory was restored from a dump, so it gives the message back and no longer knows about it.

    `possibly_sent`: it was due since the dump was taken. `accepted` is what it remembered. Said by dispatcher.
    """

    TYPE: ClassVar[str] = "message.returned.v1"

    accepted: MessageAccepted
    possibly_sent: bool
    returned_at: AwareDatetime
