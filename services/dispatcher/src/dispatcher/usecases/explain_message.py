"""Answers why a message is where it is, and how a number is doing."""

from dataclasses import dataclass
from datetime import datetime

from chassis.database import Database
from contracts.dispatch_questions import (
    DescribeLane,
    ExplainMessage,
    JobExplained,
    LaneCondition,
    LaneDepth,
    LaneDescribed,
    MessageExplained,
    TenantDepth,
)
from contracts.values import ConnectionState, Environment
from dispatcher.domain.forecast import JobNow, LaneNow, expected_at
from dispatcher.domain.lane_pace import opens_at
from dispatcher.domain.pacing import terms_of
from dispatcher.domain.rates import allowed_per_hour, slot_paces
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
        return MessageExplained(job=explained, lane=_condition(lane, now) if lane else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeNumber:
    """What waits in a number's lane and whether it can send."""

    database: Database
    clock: Clock = None

    async def __call__(self, question: DescribeLane) -> LaneDescribed:
        """Empty for a number that was never configured."""
        async with self.database.transaction() as tx:
            now = await instant(tx, given(self.clock))
            lane = await explaining.find_lane(tx, question.instance)
            depths = await explaining.depths(tx, question.instance) if lane else []
            tenants = await explaining.top_tenants(tx, question.instance) if lane else []
            sent = await explaining.sent_last_hour(tx, question.instance, now=now) if lane else None
        if lane is None:
            return LaneDescribed()
        terms = terms_of(lane.pacing)
        return LaneDescribed(
            lane=_condition(lane, now),
            uncertain=sum(depth.uncertain for depth in depths),
            depths=tuple(
                LaneDepth(
                    category=depth.category,
                    ready=depth.ready,
                    urgent=depth.urgent,
                    scheduled=depth.scheduled,
                    next_slot_at=opens_at(lane.pace, terms, Environment.LIVE, depth.category, cold=False),
                    oldest_due_at=depth.oldest_due_at,
                    allowed_per_hour=allowed_per_hour(terms, Environment.LIVE, depth.category),
                )
                for depth in depths
            ),
            sent_last_hour=sent,
            tenants=tuple(TenantDepth(tenant_id=one.tenant_id, ready=one.ready) for one in tenants),
            paces=slot_paces(lane.pace, terms),
            min_share=lane.pacing.min_share,
        )


def _ahead(job: JobNow) -> int:
    return sum(job.ahead.values())


def _condition(lane: LaneNow, now: datetime) -> LaneCondition:
    held_until, is_open = lane.pace.cold_until, lane.state is ConnectionState.OPEN
    return LaneCondition(
        instance=lane.instance,
        state=lane.state,
        reason=lane.reason,
        observed_at=lane.observed_at,
        paused=lane.paused,
        in_flight=lane.in_flight,
        max_in_flight=lane.max_in_flight,
        sends_fail=lane.suspect and not is_open,
        next_probe_at=None if is_open else lane.probe_at,
        first_contacts_held_until=held_until if held_until is not None and held_until > now else None,
        unacknowledged_since=lane.silent_since,
    )
