"""When a waiting message is expected to leave: an estimate from the lane's pace and what goes before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.values import Category, ConnectionState, Gap, PacingPolicy
from dispatcher.domain.jobs import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneNow:
    """A lane as it is; `slots` is when each category may send next, `pacing` how long it then pauses."""

    instance: str
    state: ConnectionState
    reason: str | None
    observed_at: datetime
    paused: bool
    in_flight: int
    max_in_flight: int
    gapless: bool
    pacing: PacingPolicy
    slots: Mapping[Category, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNow:
    """A job as it is; `ahead` counts by category what leaves its lane before it."""

    state: JobState
    category: Category
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
    slot = max(now, lane.slots[job.category])
    match job.state:
        case JobState.SCHEDULED:
            return max(job.due_at, slot)
        case JobState.READY:
            return slot + _queueing(job, lane)
        case _:
            return None


def _queueing(job: JobNow, lane: LaneNow) -> timedelta:
    """A send delays another category by the shorter of the two gaps, as the claim has it."""
    if lane.gapless:
        return timedelta(0)
    own = _mean(lane.pacing.gap(job.category))
    return sum(
        (count * min(own, _mean(lane.pacing.gap(category))) for category, count in job.ahead.items()), timedelta(0)
    )


def _mean(gap: Gap) -> timedelta:
    return timedelta(milliseconds=(gap.min_ms + gap.max_ms) / 2)
