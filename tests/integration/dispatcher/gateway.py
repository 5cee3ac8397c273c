"""A scriptable gateway: the other company's side, with a memory of what it handed over."""

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateways.port import Access, Answer, ConnectionState, LookupFailedError, Outbound, StoredMessage, Taken
from gateways.recipients import same_recipient


@dataclass
class Gateway:
    """Implements `Sender` and `Lookup`. `answers` are given in turn, then everything is taken."""

    clock: Callable[[], datetime]
    answers: deque[Answer] = field(default_factory=deque)
    sent: list[Outbound] = field(default_factory=list)
    stored: list[StoredMessage] = field(default_factory=list)
    state: ConnectionState | None = ConnectionState.OPEN
    is_mute: bool = False
    lookups: int = 0
    before_answer: Callable[[Outbound], None] | None = None
    _keys: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def send(self, outbound: Outbound) -> Answer:
        self.sent.append(outbound)
        if self.before_answer is not None:
            self.before_answer(outbound)
        if self.answers:
            return self.answers.popleft()
        return Taken(key_id=f"K{next(self._keys)}")

    def call_seconds_max(self, outbound: Outbound) -> float:
        return 27.0 + outbound.typing_ms / 1_000

    def store(self, recipient: str, text: str, key_id: str, *, at: datetime | None = None) -> None:
        """As if a send had been carried out, whatever was answered."""
        self.stored.append(StoredMessage(key_id=key_id, recipient=recipient, text=text, sent_at=at or self.clock()))

    async def sent_messages(
        self, access: Access, *, recipient: str, since: datetime, until: datetime, limit: int = 50
    ) -> Sequence[StoredMessage]:
        self.lookups += 1
        if self.is_mute:
            raise LookupFailedError("mute")
        found = [
            message
            for message in self.stored
            if same_recipient(message.recipient, recipient) and since <= message.sent_at <= until
        ]
        return sorted(found, key=lambda message: message.sent_at, reverse=True)[:limit]

    async def sent_message(self, access: Access, *, key_id: str) -> StoredMessage | None:
        if self.is_mute:
            raise LookupFailedError("mute")
        return next((message for message in self.stored if message.key_id == key_id), None)

    async def connection_state(self, access: Access) -> ConnectionState | None:
        if self.is_mute:
            raise LookupFailedError("mute")
        return self.state
