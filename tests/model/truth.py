"""A gateway that keeps the truth: which calls were carried out, whatever their callers were told and when."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dispatcher.domain.jobs import JobKey
from gateways.port import Access, Answer, ConnectionState, LookupFailedError, Outbound, StoredMessage, Taken

CALL_SECONDS_MAX = 27.0
"""What is not carried out by then never is: the gateway's own limits are shorter than ours."""

Words = tuple[str, str]
"""Recipient and text: all by which a send can be told from another."""


@dataclass(eq=False, slots=True, kw_only=True)
class Call:
    """One request for a send. `sent_at` None: not carried out, and never will be once `is_over`."""

    key: JobKey
    words: Words
    began_at: datetime
    answer: "asyncio.Future[Answer]"
    key_id: str = ""
    sent_at: datetime | None = None
    is_over: bool = False
    is_echo_due: bool = False

    @property
    def is_heard(self) -> bool:
        """Whether somebody still waits for the answer."""
        return not self.answer.done()


@dataclass(slots=True)
class Truth:
    """Implements `Lookup`; a `Door` per attempt implements `Sender`. `is_prompt`: every call is carried out at once."""

    now: Callable[[], datetime]
    calls: list[Call] = field(default_factory=list)
    is_mute: bool = False
    is_prompt: bool = False
    began: asyncio.Event = field(default_factory=asyncio.Event)
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def called(self, key: JobKey, outbound: Outbound) -> Answer:
        """A request came in; what becomes of it and what its caller hears is decided elsewhere."""
        words = (outbound.recipient, outbound.text)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        call = Call(key=key, words=words, began_at=self.now(), answer=future)
        self.calls.append(call)
        self.began.set()
        if self.is_prompt:
            self.carry_out(call)
            return Taken(key_id=call.key_id)
        return await call.answer

    def carry_out(self, call: Call) -> None:
        """The message leaves."""
        assert not call.is_over
        call.key_id, call.sent_at = f"K{next(self._ids)}", self.now()
        call.is_over = call.is_echo_due = True

    def drop(self, call: Call) -> None:
        """The message never leaves."""
        assert not call.is_over
        call.is_over = True

    def undecided(self) -> list[Call]:
        """Calls that may still be carried out."""
        return [call for call in self.calls if not call.is_over]

    def unanswered(self) -> list[Call]:
        """Calls whose callers still wait."""
        return [call for call in self.calls if call.is_heard]

    def sent(self) -> list[Call]:
        """Everything that left."""
        return [call for call in self.calls if call.sent_at is not None]

    def time_passed(self) -> None:
        """No call is carried out long after it began."""
        for call in self.undecided():
            if self.now() >= call.began_at + timedelta(seconds=CALL_SECONDS_MAX):
                self.drop(call)

    async def sent_messages(
        self, access: Access, *, recipient: str, since: datetime, until: datetime, limit: int = 50
    ) -> Sequence[StoredMessage]:
        """The gateway's memory is complete when it can be read."""
        if self.is_mute:
            raise LookupFailedError("mute")
        found = [_stored(call) for call in self.sent() if call.words[0] == recipient]
        return [message for message in found if since <= message.sent_at <= until][:limit]

    async def sent_message(self, access: Access, *, key_id: str) -> StoredMessage | None:
        """By id."""
        if self.is_mute:
            raise LookupFailedError("mute")
        return next((_stored(call) for call in self.sent() if call.key_id == key_id), None)

    async def connection_state(self, access: Access) -> ConnectionState | None:
        """Always connected, if it can be asked."""
        if self.is_mute:
            raise LookupFailedError("mute")
        return ConnectionState.OPEN


@dataclass(frozen=True, slots=True)
class Door:
    """Through which one attempt calls, so that it is known whose call it was even where texts are alike."""

    truth: Truth
    key: JobKey

    async def send(self, outbound: Outbound) -> Answer:
        return await self.truth.called(self.key, outbound)

    def call_seconds_max(self, outbound: Outbound) -> float:
        return CALL_SECONDS_MAX


def _stored(call: Call) -> StoredMessage:
    assert call.sent_at is not None
    return StoredMessage(key_id=call.key_id, recipient=call.words[0], text=call.words[1], sent_at=call.sent_at)
