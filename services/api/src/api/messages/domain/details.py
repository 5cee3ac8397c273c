"""A message as it is read back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.errors import ErrorCode
from contracts.status import Status
from contracts.values import MessageRef


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A row of messages; `sealed` opens with the key ring and the message id."""

    ref: MessageRef
    external_id: str | None
    status: Status
    version: int
    origin: str
    source_number: str | None
    template_name: str | None
    kind: str
    labels: tuple[str, ...]
    deliver_by: datetime
    deliver_until: datetime
    accepted_at: datetime
    dispatched_at: datetime | None
    sent_at: datetime | None
    delivered_at: datetime | None
    read_at: datetime | None
    failed_at: datetime | None
    canceled_at: datetime | None
    error_code: ErrorCode | None
    duplicate_possible: bool
    recipient_hash: str
    sealed: str | None

    @property
    def message_id(self) -> UUID:
        """The message's own id."""
        return self.ref.message_id

    @property
    def correlation_id(self) -> str:
        """The id that other systems know it by."""
        return self.ref.correlation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened to a message."""

    at: datetime
    what: str
    round: int
    detail: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMessage:
    """What canceling needs to know of a message. `is_suspect`: an attempt of it was reported as uncertain."""

    ref: MessageRef
    status: Status
    is_suspect: bool = False
