"""One lane kept in memory as the store keeps it: streams in the order of tags, finish tags per tenant, and a pace."""

import heapq
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import NamedTuple
from uuid import UUID

from contracts.values import DELIVERY_WINDOW
from dispatcher.domain.fairness import RANK_OF_STREAM, rank_of, refunded, stream_index, tag_for
from dispatcher.domain.lane_pace import LanePace, opens_at
from dispatcher.domain.pacing import Terms
from dispatcher.domain.turns import Head, choose, heads_wanted

from .traffic import Message


class Waiting(NamedTuple):
    """A READY message, ordered as its stream is; `number` is unique."""

    tag: float
    due_at: datetime
    number: int
    head: Head
    message: Message
    deadline: datetime


@dataclass(slots=True, kw_only=True)
class Lane:
    """Takes messages in and lets them go."""

    pace: LanePace
    terms: Terms
    max_in_flight: int
    wake_at: datetime | None = None
    streams: dict[int, list[Waiting]] = field(default_factory=dict)
    finishes: dict[tuple[int, int], float] = field(default_factory=dict)
    contacts: set[int] = field(default_factory=set)
    in_flight: list[datetime] = field(default_factory=list)
    taken: int = 0

    def take_in(self, message: Message) -> Waiting:
        """A message is READY: it gets its tag, and the lane wakes when its stream opens."""
        rank, at = rank_of(message.category, urgent=message.urgent), message.at
        finish = self.finishes.get((rank, message.tenant))
        tag, finish = tag_for(virtual=self.pace.virtual[rank], finish=finish, weight=message.weight)
        self.finishes[rank, message.tenant] = finish
        self.taken += 1
        cold = message.recipient not in self.contacts
        waiting = Waiting(
            tag,
            at,
            self.taken,
            _head(message, tag, at, self.taken, cold=cold),
            message,
            at + DELIVERY_WINDOW[message.category],
        )
        insort(self.streams.setdefault(stream_index(rank, message.environment, cold=cold), []), waiting)
        if len(self.in_flight) < self.max_in_flight and (self.wake_at is None or self.wake_at > at):
            opening = max(at, opens_at(self.pace, self.terms, message.environment, message.category, cold=cold))
            self.wake_at = opening if self.wake_at is None else min(self.wake_at, opening)
        return waiting

    def claim(self, now: datetime, dice: Callable[[], float], expired: Callable[[Waiting], None]) -> list[Waiting]:
        """One pass: what is late expires on the way, then whoever has the turn goes."""
        room = self.max_in_flight - len(self.in_flight)
        depth = heads_wanted(self.terms, room=room)
        read: dict[int, tuple[int, Waiting]] = {}
        heads: list[Head] = []
        for stream, queue in self.streams.items():
            if queue and queue[0].deadline <= now:
                self._expire(stream, queue, now, expired)
            for waiting in queue[:depth]:
                head = self._as_of_now(waiting) if waiting.head.cold else waiting.head
                heads.append(head)
                read[id(head)] = stream, waiting
        turn = choose(self.pace, self.terms, heads, room=room, now=now, dice=dice, depth=depth)
        self.pace, self.wake_at = turn.pace, turn.wake_at
        gone = [read[id(head)] for head in turn.picks]
        for stream, waiting in gone:
            self.streams[stream].remove(waiting)
        return [waiting for _, waiting in gone]

    def call(self, until: datetime) -> None:
        """A call is in flight until then."""
        heapq.heappush(self.in_flight, until)

    def settle(self, now: datetime) -> None:
        """Calls that have ended by now give their room back."""
        full = len(self.in_flight) >= self.max_in_flight
        while self.in_flight and self.in_flight[0] <= now:
            heapq.heappop(self.in_flight)
            if full and any(self.streams.values()):
                self.wake_at = now

    def _expire(self, stream: int, queue: list[Waiting], now: datetime, expired: Callable[[Waiting], None]) -> None:
        while queue and queue[0].deadline <= now:
            self._refund(stream, queue[0].message)
            expired(queue.pop(0))

    def _refund(self, stream: int, message: Message) -> None:
        account = RANK_OF_STREAM[stream], message.tenant
        self.finishes[account] = refunded(finish=self.finishes[account], weights=(message.weight,))

    def _as_of_now(self, waiting: Waiting) -> Head:
        if waiting.head.cold and waiting.message.recipient in self.contacts:
            return _head(waiting.message, waiting.tag, waiting.due_at, waiting.number, cold=True, known=True)
        return waiting.head


def _head(message: Message, tag: float, due_at: datetime, number: int, *, cold: bool, known: bool = False) -> Head:
    return Head(
        key=(UUID(int=number), 1),
        tenant_id=_tenant(message.tenant),
        environment=message.environment,
        category=message.category,
        urgent=message.urgent,
        cold=cold,
        tag=tag,
        due_at=due_at,
        known=known,
    )


@cache
def _tenant(number: int) -> UUID:
    return UUID(int=number)
