"""What a client is told once its message is stored."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the 202 says; `replayed`: an earlier request with the same idempotency key was given it first.

    `estimated_dispatch_at` is what was expected when it was accepted; None where nobody could tell.
    """

    message_id: UUID
    correlation_id: str
    accepted_at: datetime
    origin: str
    source_number: str | None
    estimated_dispatch_at: datetime | None = None
    replayed: bool = False

    def again(self) -> "Receipt":
        """The same for a request that was repeated."""
        return replace(self, replayed=True)
