"""Whose turn it is in a lane: the one decision on order, fairness, pace and minimum share, without any input or output.

It is taken under the lock of the lane's row. The store reads the first messages of each stream, asks `choose`, and
carries out the `Turn`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from contracts.values import Category, Environment
from dispatcher.domain.fairness import RANK_OF_STREAM, SLOT_OF_STREAM, TICK, rank_of, stream_index
from dispatcher.domain.jobs import JobKey
from dispatcher.domain.lane_pace import Draft, LanePace
from dispatcher.domain.pacing import Terms

Dice = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A READY message near the front of its stream.

    `cold` names its stream; `known`: the recipient has become a contact since. `repeats`: it says again what the
    recipient was told last.
    """

    key: JobKey
    tenant_id: UUID
    environment: Environment
    category: Category
    urgent: bool
    cold: bool
    tag: float
    due_at: datetime
    known: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What happens to a lane: who goes, who is suppressed as a repetition, its pace afterwards.

    `leaves_at` is when the picks go: now, or a moment ahead. `wake_at` is when the lane next deserves a look; None
    while nothing waits or it has no room.
    """

    picks: tuple[Head, ...]
    suppressed: tuple[Head, ...]
    pace: LanePace
    leaves_at: datetime
    wake_at: datetime | None


def heads_wanted(terms: Terms, *, room: int) -> int:
    """How many messages of one stream one turn can let go at most, hence how many are worth reading."""
    return room if terms.at_once is None else min(room, terms.at_once)


def choose(
    pace: LanePace,
    terms: Terms,
    heads: Sequence[Head],
    *,
    room: int,
    now: datetime,
    dice: Dice,
    capacity: int | None = None,
    depth: int | None = None,
    ahead: timedelta = timedelta(0),
) -> Turn:
    """Who goes now; if nobody may, who goes next, provided that is no more than `ahead` and one gap from now.

    So the next one is committed while the gap before it still runs, and leaves on time however long the commit takes.

    `heads`: of each stream the first ones, in the order of tag, due time and message id. `room`: how many more calls
    the lane may have in flight; `capacity`: how many the caller can take (None: no less than `room`). `depth`: how many
    heads were read per stream at most; a stream that had fewer is known to end there (None: all of them are here).
    """
    deciding = _Deciding(terms=terms, draft=Draft(pace, terms), queues=_by_stream(heads), now=now, depth=depth)
    wanted = room if capacity is None else min(room, capacity)
    picks = deciding.picks(wanted, dice)
    opening = deciding.next_opening()
    if wanted > 0 and not picks and opening is not None and opening <= now + deciding.lead(ahead):
        deciding.now = opening
        picks = deciding.picks(1, dice)
        opening = deciding.next_opening()
    asleep = opening is None or len(picks) >= room
    return Turn(
        picks=tuple(picks),
        suppressed=tuple(deciding.suppressed),
        pace=deciding.settled(),
        leaves_at=deciding.now,
        wake_at=None if asleep or opening is None else max(opening - deciding.lead(ahead), now),
    )


def _by_stream(heads: Sequence[Head]) -> dict[int, list[Head]]:
    queues: dict[int, list[Head]] = {}
    for head in heads:
        rank = rank_of(head.category, urgent=head.urgent)
        queues.setdefault(stream_index(rank, head.environment, cold=head.cold), []).append(head)
    return queues


@dataclass(slots=True, kw_only=True)
class _Deciding:
    """A turn in the making: what waits in each stream, and the pace as far as it is spent."""

    terms: Terms
    draft: Draft
    queues: dict[int, list[Head]]
    now: datetime
    depth: int | None
    read: dict[int, int] = field(init=False)
    suppressed: list[Head] = field(default_factory=list)
    taken: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.read = {stream: len(queue) for stream, queue in self.queues.items()}

    def picks(self, wanted: int, dice: Dice) -> list[Head]:
        """Up to so many that may go at `now`, each spent."""
        gone: list[Head] = []
        while len(gone) < wanted and (fronts := self.fronts()):
            stream = self.whose_turn(fronts)
            gone.append(self.send(stream, fronts[stream], dice()))
        return gone

    def fronts(self) -> dict[int, Head]:
        """By open stream, who would go; repetitions that come to the front on the way are suppressed."""
        found = {}
        for stream, queue in self.queues.items():
            if queue and self.draft.opens_at(SLOT_OF_STREAM[stream]) <= self.now:
                head = queue[0] if _plain(queue[0]) else self._front(stream, queue)
                if head is not None:
                    found[stream] = head
        return found

    def _front(self, stream: int, queue: list[Head]) -> Head | None:
        for head in tuple(queue):
            if head.repeats:
                self.suppressed.append(self._take(stream, head))
            elif not _first_contact(head) or self._may_write_first(head.category):
                return head
        return None

    def _may_write_first(self, category: Category) -> bool:
        opening = self.draft.first_contact_opens_at(category)
        return opening is None or opening <= self.now

    def whose_turn(self, fronts: Mapping[int, Head]) -> int:
        """The stream that goes: the best rank and tag, unless a lower category was passed over long enough.

        After such a turn the best one goes first, so that it never waits for two of them.
        """
        best = min(fronts, key=lambda stream: _order(stream, fronts[stream]))
        share = self.terms.share
        if share is None:
            return best
        waiting = {_category(stream) for stream in fronts}
        owed = [
            category for category in waiting if category > _category(best) and self.draft.passed[category] >= share - 1
        ]
        paying = bool(owed) and not self.draft.passed[0]
        if paying:
            category = max(owed, key=lambda category: (self.draft.passed[category], -category))
            of_category = [stream for stream in fronts if _category(stream) == category]
            best = min(of_category, key=lambda stream: _order(stream, fronts[stream]))
        self._count_passed(waiting, _category(best), paying=paying)
        return best

    def _count_passed(self, waiting: set[int], served: int, *, paying: bool) -> None:
        passed = self.draft.passed
        for category in waiting - {0, served}:
            passed[category] += 1
        passed[served] = 0
        passed[0] = int(paying)

    def send(self, stream: int, head: Head, dice: float) -> Head:
        """Spend what the send of this head costs."""
        self.draft.spend(
            SLOT_OF_STREAM[stream], due_at=head.due_at, now=self.now, dice=dice, first_contact=_first_contact(head)
        )
        return self._take(stream, head)

    def _take(self, stream: int, head: Head) -> Head:
        self.queues[stream].remove(head)
        self.taken[stream] = max(self.taken.get(stream, head.tag), head.tag)
        rank = RANK_OF_STREAM[stream]
        self.draft.virtual[rank] = max(self.draft.virtual[rank] + TICK, head.tag)
        return head

    def settled(self) -> LanePace:
        """The pace with each floor lifted to what was taken last, or to who was left standing before it."""
        for stream, tag in self.taken.items():
            queue = self.queues[stream]
            lowest = min(tag, queue[0].tag) if queue else tag
            self.draft.floors[stream] = max(self.draft.floors[stream], lowest)
        return self.draft.done()

    def next_opening(self) -> datetime | None:
        """The earliest instant at which somebody may go, counting those behind the heads that were read."""
        openings = [self._opening(stream, self.queues[stream]) for stream in self._waiting()]
        return max(min(openings), self.now) if openings else None

    def lead(self, ahead: timedelta) -> timedelta:
        """By how much the next one may be picked too early: less than a gap, so that it is never two of them."""
        gaps = [self.terms.slots[SLOT_OF_STREAM[stream]].gap_min for stream in self._waiting()]
        return min(ahead, *gaps) if gaps else timedelta(0)

    def _waiting(self) -> list[int]:
        return [
            stream
            for stream, queue in self.queues.items()
            if queue or (self.depth is not None and self.read[stream] >= self.depth)
        ]

    def _opening(self, stream: int, queue: Sequence[Head]) -> datetime:
        opening = self.draft.opens_at(SLOT_OF_STREAM[stream])
        if queue and not _plain(queue[0]) and all(_first_contact(head) and not head.repeats for head in queue):
            return max(opening, self.draft.first_contact_opens_at(queue[0].category) or opening)
        return opening


def _plain(head: Head) -> bool:
    return not head.repeats and not head.cold


def _first_contact(head: Head) -> bool:
    return head.cold and not head.known


def _category(stream: int) -> int:
    return RANK_OF_STREAM[stream] // 2


def _order(stream: int, head: Head) -> tuple[int, float, datetime, JobKey]:
    return RANK_OF_STREAM[stream], head.tag, head.due_at, head.key
