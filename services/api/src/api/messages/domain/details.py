"""A message as it is read back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.errors import ErrorCode
from contracts.status import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A row of messages; `sealed` opens with the key ring and the message id."""

    message_id: UUID
    correlation_id: str
    external_id: str | None
    status: Status
    version: int
    environment: str
    category: str
    origin: str
    template_name: str | None
    deliver_by: datetime
    deliver_until: datetime
    accepted_at: datetime
    dispatched_at: datetime | None
    sent_at: datetime | None
    delivered_at: datetime | None
    read_at: datetime | None
    failed_at: datetime | None
    error_code: ErrorCode | None
    duplicate_possible: bool
    sealed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened to a message."""

    at: datetime
    what: str
    round: int
    detail: Mapping[str, object]
