"""What is believed and told of a number's connection: a final close at once, a passing drop only if it lasts."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from contracts.facts import NumberConnectionChanged
from contracts.values import ConnectionState

PASSING_CODES: Final = frozenset({"408", "428", "440", "500", "503", "515"})
"""Baileys' codes of drops after which it connects again by itself; any other close is final."""

LASTS_AFTER: Final = timedelta(seconds=15)
"""A drop that is over sooner is nobody's news."""

TOLD_AGAIN_AFTER: Final = timedelta(seconds=60)
"""The same is told again only after so long: somebody else may have seen the number otherwise in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A gateway's word on a number's connection, dated by our clock."""

    instance: str
    state: ConnectionState
    reason: str | None
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How a number was last seen, and what was told of it last; all empty for one never seen.

    `since`: the first sighting of this drop, opening or close.
    """

    instance: str
    state: ConnectionState | None = None
    reason: str | None = None
    since: datetime | None = None
    seen_at: datetime | None = None
    told: ConnectionState | None = None
    told_at: datetime | None = None


def seen(known: Connection, sighting: Sighting) -> tuple[Connection, NumberConnectionChanged | None]:
    """After a sighting, and what to tell at once. One that is not newer than the last changes nothing."""
    if known.seen_at is not None and sighting.seen_at <= known.seen_at:
        return known, None
    goes_on = known.since is not None and _kind(known.state, known.reason) == _kind(sighting.state, sighting.reason)
    now = replace(
        known,
        state=sighting.state,
        reason=sighting.reason,
        since=known.since if goes_on else sighting.seen_at,
        seen_at=sighting.seen_at,
    )
    if is_passing(sighting.state, sighting.reason) or _was_just_told(now, sighting.seen_at):
        return now, None
    return _told(now, sighting.seen_at)


def lasted(known: Connection, *, now: datetime) -> tuple[Connection, NumberConnectionChanged | None]:
    """A drop that was taken for a passing one, looked at again."""
    if known.since is None or known.state is known.told or now - known.since < LASTS_AFTER:
        return known, None
    return _told(known, now)


def is_passing(state: ConnectionState | None, reason: str | None) -> bool:
    """Whether a number is expected back by itself."""
    return state is ConnectionState.CONNECTING or (state is ConnectionState.CLOSE and reason in PASSING_CODES)


def _kind(state: ConnectionState | None, reason: str | None) -> str:
    return "passing" if is_passing(state, reason) else str(state)


def _was_just_told(known: Connection, now: datetime) -> bool:
    return known.told is known.state and known.told_at is not None and now - known.told_at < TOLD_AGAIN_AFTER


def _told(known: Connection, now: datetime) -> tuple[Connection, NumberConnectionChanged | None]:
    if known.state is None or known.seen_at is None:
        return known, None
    fact = NumberConnectionChanged(
        instance=known.instance, state=known.state, reason=known.reason, observed_at=known.seen_at
    )
    return replace(known, told=known.state, told_at=now), fact
