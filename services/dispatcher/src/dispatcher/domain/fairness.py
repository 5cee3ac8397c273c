"""Whose message is next among many tenants: start-time fair queueing, and the names of what can be closed alone.

Goyal, Vin, Cheng: "Start-time Fair Queuing", SIGCOMM 1996. A tenant that waited banks nothing; one that sent much waits
for its turn, not for its backlog.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.values import Category, Environment
from dispatcher.domain.jobs import PRIORITY

RANKS = 6
"""Category and urgency: 0 is an urgent OTP, 5 a MARKETING message without haste."""

SLOTS = 6
"""Environment and category: what has a pace of its own."""

STREAMS = 24
"""Rank, environment and first contact or not: what can be closed while the others flow."""

TICK = 1e-6
"""How far a turn moves virtual time at least, so that what arrives later is tagged later also among single messages."""

_ENVIRONMENT = {Environment.TEST: 0, Environment.LIVE: 1}


@dataclass(frozen=True, slots=True)
class Tags:
    """The start tags of some messages of one tenant, in their order, and the tenant's finish tag after them."""

    starts: tuple[float, ...]
    finish: float


def tags_for(*, virtual: float, finish: float | None, weights: Sequence[int]) -> Tags:
    """Tag messages of one tenant that become ready together in one rank of one lane.

    `virtual` is the rank's virtual time, `finish` the tenant's finish tag there (None if it never had one), `weights`
    the tenant's weight as each message carries it. With a running sum of 1/weight the store computes the same.
    """
    start = virtual if finish is None else max(virtual, finish)
    starts, spent = [], 0.0
    for weight in weights:
        starts.append(start + spent)
        spent += 1.0 / weight
    return Tags(starts=tuple(starts), finish=start + spent)


def tag_for(*, virtual: float, finish: float | None, weight: int) -> tuple[float, float]:
    """Start and finish tag of a single message; see `tags_for`."""
    tags = tags_for(virtual=virtual, finish=finish, weights=(weight,))
    return tags.starts[0], tags.finish


def returning_tag(*, tag: float, floor: float) -> float:
    """The tag of a message that comes back: first in line again, without paying twice."""
    return max(tag, floor)


def refunded(*, finish: float, weights: Sequence[int]) -> float:
    """The tenant's finish tag after messages of these weights left READY without having had a turn.

    Expired, cancelled, suppressed: without it a tenant whose campaign went stale would pay for turns it never had, and
    wait behind everybody else until virtual time has caught up.
    """
    return finish - sum(1.0 / weight for weight in weights)


def rank_of(category: Category, *, urgent: bool) -> int:
    """The order inside a lane before tags decide: lower goes first."""
    return PRIORITY[category] * 2 + (0 if urgent else 1)


def slot_index(environment: Environment, category: Category) -> int:
    """Which of the 6 slot keys: TEST OTP, TEST UTILITY, TEST MARKETING, LIVE OTP, …"""
    return _ENVIRONMENT[environment] * 3 + PRIORITY[category]


def stream_index(rank: int, environment: Environment, *, cold: bool) -> int:
    """Which of the 24 streams: by rank, then environment, then whether the recipient is a first contact."""
    return rank * 4 + _ENVIRONMENT[environment] * 2 + cold


RANK_OF_STREAM = tuple(stream // 4 for stream in range(STREAMS))
"""The rank each stream belongs to."""

SLOT_OF_STREAM = tuple(stream // 2 % 2 * 3 + stream // 8 for stream in range(STREAMS))
"""The slot key each stream is paced by."""
