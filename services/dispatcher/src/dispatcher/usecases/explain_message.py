"""Answers why a message is where it is, and how a number is doing."""

from dataclasses import dataclass

from chassis.database import Database
from contracts.dispatch_questions import (
    DescribeLane,
    ExplainMessage,
    JobExplained,
    LaneCondition,
    LaneDepth,
    LaneDescribed,
    MessageExplained,
)
from dispatcher.domain.forecast import JobNow, LaneNow, expected_at
from dispatcher.store import explaining
from dispatcher.store.instant import instant
from dispatcher.usecases.clock import Clock, given


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainJob:
    """Where a message's job is, what goes before it and when it is expected to leave."""

    database: Database
    clock: Clock = None

    async def __call__(self, question: ExplainMessage) -> MessageExplained:
        """A message that has not arrived has no job."""
        ref = question.ref
        async with self.database.transaction() as tx:
            now = await instant(tx, given(self.clock))
            lane = await explaining.find_lane(tx, ref.instance)
            job = await explaining.find_job(tx, ref, now=now)
        explained = None
        if job is not None:
            explained = JobExplained(
                state=job.state.value,
                attempt=job.attempt,
                due_at=job.due_at,
                deliver_until=job.deliver_until,
                reason=job.reason,
                resolve_by=job.resolve_by,
                ahead=_ahead(job),
                expected_at=expected_at(job, lane, now=now),
            )
        return MessageExplained(job=explained, lane=_condition(lane) if lane else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeNumber:
    """What waits in a number's lane and whether it can send."""

    database: Database

    async def __call__(self, question: DescribeLane) -> LaneDescribed:
        """Empty for a number that was never configured."""
        async with self.database.transaction() as tx:
            lane = await explaining.find_lane(tx, question.instance)
            depths = await explaining.depths(tx, question.instance) if lane else []
        if lane is None:
            return LaneDescribed()
        return LaneDescribed(
            lane=_condition(lane),
            uncertain=sum(depth.uncertain for depth in depths),
            depths=tuple(
                LaneDepth(
                    category=depth.category,
                    ready=depth.ready,
                    scheduled=depth.scheduled,
                    next_slot_at=lane.slots[depth.category],
                )
                for depth in depths
            ),
        )


def _ahead(job: JobNow) -> int:
    return sum(job.ahead.values())


def _condition(lane: LaneNow) -> LaneCondition:
    return LaneCondition(
        instance=lane.instance,
        state=lane.state,
        reason=lane.reason,
        observed_at=lane.observed_at,
        paused=lane.paused,
        in_flight=lane.in_flight,
        max_in_flight=lane.max_in_flight,
    )
