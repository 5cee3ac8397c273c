"""One pass over lanes that deserve a look: each gets its turn until the caller has enough to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dispatcher.domain.jobs import SealedAccess
from dispatcher.domain.lane_pace import LanePace, reopened
from dispatcher.domain.pacing import Terms
from dispatcher.domain.turns import Dice, Head, Turn, choose, heads_wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class DueLane:
    """A locked lane. `room` is how many more calls it may have in flight; `resumed`: it could not send before."""

    instance: str
    access: SealedAccess
    terms: Terms
    pace: LanePace
    room: int
    resumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How many heads of each stream to read in one lane."""

    instance: str
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneTurn:
    """What is to be written about one lane."""

    instance: str
    turn: Turn


def looks(lanes: Sequence[DueLane], *, capacity: int) -> list[Look]:
    """Where to look; nowhere in a lane without room."""
    return [Look(instance=lane.instance, depth=_depth(lane, capacity)) for lane in lanes if lane.room > 0]


def take_turns(
    lanes: Sequence[DueLane],
    heads: Mapping[str, Sequence[Head]],
    *,
    capacity: int,
    now: datetime,
    dice: Dice,
    ahead: timedelta = timedelta(0),
) -> list[LaneTurn]:
    """A turn for each lane in the order given, `capacity` picks in all; lanes beyond that are left as they are."""
    taken: list[LaneTurn] = []
    left = capacity
    for lane in lanes:
        if left <= 0:
            break
        depth = _depth(lane, capacity)
        turn = _turn(lane, heads.get(lane.instance, ()), capacity=left, depth=depth, now=now, dice=dice, ahead=ahead)
        left -= len(turn.picks)
        taken.append(LaneTurn(instance=lane.instance, turn=turn))
    return taken


def next_look(turns: Sequence[LaneTurn], others: datetime | None, *, now: datetime) -> datetime | None:
    """When to come again after a pass that claimed nothing: the earliest of the lanes it turned to and of the `others`.

    Whoever was picked all the same was locked by somebody: at once.
    """
    openings = [now if one.turn.picks else one.turn.wake_at for one in turns]
    return min((opening for opening in [*openings, others] if opening is not None), default=None)


def _depth(lane: DueLane, capacity: int) -> int:
    return min(heads_wanted(lane.terms, room=lane.room), capacity)


def _turn(
    lane: DueLane, heads: Sequence[Head], *, capacity: int, depth: int, now: datetime, dice: Dice, ahead: timedelta
) -> Turn:
    pace = reopened(lane.pace, lane.terms, now) if lane.resumed else lane.pace
    if lane.room <= 0:
        return Turn(picks=(), suppressed=(), pace=pace, leaves_at=now, wake_at=None)
    return choose(
        pace, lane.terms, heads, room=lane.room, now=now, dice=dice, capacity=capacity, depth=depth, ahead=ahead
    )
