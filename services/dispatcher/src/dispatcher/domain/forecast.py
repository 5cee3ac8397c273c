"""When a waiting message is expected to leave: an estimate from the lane's pace and what goes before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.values import Category, ConnectionState, Environment, PacingPolicy
from dispatcher.domain.fairness import slot_index
from dispatcher.domain.jobs import PRIORITY, JobState
from dispatcher.domain.lane_pace import LanePace, first_contact_opens_at
from dispatcher.domain.pacing import Terms, terms_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneNow:
    """A lane as it is: its connection and health, its policy, and what of it is spent."""

    instance: str
    state: ConnectionState
    reason: str | None
    observed_at: datetime
    paused: bool
    in_flight: int
    max_in_flight: int
    pacing: PacingPolicy
    pace: LanePace
    suspect: bool = False
    probe_at: datetime | None = None
    silent_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNow:
    """A job as it is; `ahead` counts by category what leaves its lane before it, `cold`: it is a first contact."""

    state: JobState
    environment: Environment
    category: Category
    cold: bool = False
    attempt: int
    due_at: datetime
    deliver_until: datetime
    reason: str | None
    resolve_by: datetime | None
    ahead: Mapping[Category, int]


def expected_at(job: JobNow, lane: LaneNow | None, *, now: datetime) -> datetime | None:
    """None where nobody can tell: no lane, a closed or paused one, or a job that does not wait for its turn."""
    if lane is None or lane.paused or lane.state is not ConnectionState.OPEN:
        return None
    match job.state:
        case JobState.SCHEDULED:
            return max(job.due_at, _turn_at(job, lane, {}, now=now))
        case JobState.READY:
            return _turn_at(job, lane, job.ahead, now=now)
        case _:
            return None


def _turn_at(job: JobNow, lane: LaneNow, ahead: Mapping[Category, int], *, now: datetime) -> datetime:
    """The latest of what gap, caps and budget of first contacts allow after those ahead have gone."""
    terms, pace = terms_of(lane.pacing), lane.pace
    index = slot_index(job.environment, job.category)
    slot, own = terms.slots[index], ahead.get(job.category, 0)
    openings = [now, max(pace.gap_at[index], now) + _pauses(job, ahead, terms) - slot.burst]
    for cap, tat in ((slot.hour, pace.hour_at[index]), (slot.day, pace.day_at[index])):
        if cap is not None:
            openings.append(cap.opens_at(max(tat, now) + own * cap.interval if own else tat))
    if job.cold:
        openings.append(first_contact_opens_at(pace, terms, job.category) or now)
    return max(openings)


def _pauses(job: JobNow, ahead: Mapping[Category, int], terms: Terms) -> timedelta:
    """Each send ahead pauses this category for the shorter of two gaps, and only so many go before each own turn."""
    gap = terms.slots[slot_index(job.environment, job.category)].gap_mean
    own = ahead.get(job.category, 0)
    higher = None if terms.share is None else (own + 1) * (terms.share - 1)
    total = own * gap
    for category in sorted(ahead, key=PRIORITY.__getitem__):
        if category is not job.category:
            count = ahead[category] if higher is None else min(ahead[category], higher)
            higher = None if higher is None else higher - count
            total += count * min(gap, terms.slots[slot_index(job.environment, category)].gap_mean)
    return total
