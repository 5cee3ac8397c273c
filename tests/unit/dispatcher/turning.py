"""A lane in memory for tests of whose turn it is: messages get their tags as in the store, and turns are taken."""

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from contracts.values import Category, Environment, Pace, PacingPolicy
from dispatcher.domain.fairness import rank_of, stream_index, tag_for
from dispatcher.domain.jobs import JobKey
from dispatcher.domain.lane_pace import LanePace, fresh_pace
from dispatcher.domain.pacing import Terms, terms_of
from dispatcher.domain.turns import Head, Turn, choose

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)
OTP, UTILITY, MARKETING = Category.OTP, Category.UTILITY, Category.MARKETING
NO_GAP = Pace(min_ms=0, max_ms=0)
STEADY = PacingPolicy(
    otp=Pace(min_ms=1_000, max_ms=1_000),
    utility=Pace(min_ms=5_000, max_ms=5_000),
    marketing=Pace(min_ms=20_000, max_ms=20_000),
)
"""Gaps without jitter, the ordinary order of categories."""


def gapless(**more: object) -> PacingPolicy:
    """A policy without gaps."""
    return PacingPolicy.model_validate({"otp": NO_GAP, "utility": NO_GAP, "marketing": NO_GAP, **more})


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and when it went."""

    at: datetime
    head: Head


@dataclass(slots=True, kw_only=True)
class Lane:
    """One lane; whatever goes has its call ended at once, so that only pacing and order decide."""

    policy: PacingPolicy = STEADY
    pace: LanePace = field(default_factory=lambda: fresh_pace(NOW))
    room: int = 1
    ahead: timedelta = timedelta(0)
    streams: dict[int, list[Head]] = field(default_factory=dict)
    finishes: dict[tuple[int, int], float] = field(default_factory=dict)
    dice: Callable[[], float] = lambda: 0.5
    pushed: int = 0

    @property
    def terms(self) -> Terms:
        """The terms of its policy."""
        return terms_of(self.policy)

    def push(
        self,
        category: Category = UTILITY,
        *,
        count: int = 1,
        tenant: int = 1,
        weight: int = 1,
        at: datetime = NOW,
        urgent: bool = False,
        environment: Environment = Environment.LIVE,
        cold: bool = False,
        **more: bool,
    ) -> None:
        """Messages become READY."""
        rank = rank_of(category, urgent=urgent)
        for _ in range(count):
            finish = self.finishes.get((rank, tenant))
            tag, self.finishes[rank, tenant] = tag_for(virtual=self.pace.virtual[rank], finish=finish, weight=weight)
            self.pushed += 1
            head = Head(
                key=(UUID(int=self.pushed), 1),
                tenant_id=UUID(int=tenant),
                environment=environment,
                category=category,
                urgent=urgent,
                cold=cold,
                tag=tag,
                due_at=at,
                **more,
            )
            self.put(head)

    def put(self, head: Head) -> None:
        """A message that has its tag already."""
        insort(self.streams.setdefault(_stream(head), []), head, key=_order)

    def turn(self, now: datetime, *, depth: int | None = None, capacity: int | None = None) -> Turn:
        """One look at the lane."""
        turn = choose(
            self.pace,
            self.terms,
            self.heads(depth),
            room=self.room,
            now=now,
            dice=self.dice,
            depth=depth,
            capacity=capacity,
            ahead=self.ahead,
        )
        for head in (*turn.picks, *turn.suppressed):
            self.streams[_stream(head)].remove(head)
        self.pace = turn.pace
        return turn

    def heads(self, depth: int | None = None) -> list[Head]:
        """What the store would read: of each stream the first ones in its order."""
        return [head for queue in self.streams.values() for head in queue[:depth]]

    def run(
        self,
        sends: int | None = None,
        *,
        begin: datetime = NOW,
        until: datetime | None = None,
        lateness: Callable[[], timedelta] = timedelta,
    ) -> list[Sent]:
        """Look whenever the lane deserves it, each look late by `lateness`, until so many are sent or time is up.

        A lane that had no room left deserves a look at once, because its calls have ended.
        """
        sent: list[Sent] = []
        now: datetime | None = begin
        while now is not None and (until is None or now < until) and (sends is None or len(sent) < sends):
            looked_at = now + lateness()
            turn = self.turn(looked_at, depth=self.room + 1)
            went = (*turn.picks, *turn.suppressed)
            assert went or turn.wake_at is None or turn.wake_at > looked_at, "it woke for nothing"
            sent += [Sent(turn.leaves_at, head) for head in turn.picks]
            now = turn.wake_at or (looked_at if turn.picks else None)
        return sent


def _stream(head: Head) -> int:
    return stream_index(rank_of(head.category, urgent=head.urgent), head.environment, cold=head.cold)


def _order(head: Head) -> tuple[float, datetime, JobKey]:
    return head.tag, head.due_at, head.key


def gaps(sent: list[Sent]) -> list[timedelta]:
    """Between each two sends in a row."""
    return [later.at - earlier.at for earlier, later in pairwise(sent)]


def fullest(sent: list[Sent], window: timedelta) -> int:
    """The most sends in any half-open window of this length."""
    most = first = 0
    for last, one in enumerate(sent):
        while one.at - sent[first].at >= window:
            first += 1
        most = max(most, last - first + 1)
    return most
