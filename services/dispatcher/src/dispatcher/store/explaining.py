"""Where one job is and what goes before it, and how deep one lane is; every count stops at a bound."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.values import Category, ConnectionState, MessageRef, PacingPolicy
from dispatcher.domain.forecast import JobNow, LaneNow
from dispatcher.domain.jobs import PRIORITY, JobState
from dispatcher.store.sql import sql

COUNT_MAX = 10_000

_LANE_COLUMNS = """lane.instance, lane.state, lane.state_reason, lane.state_observed_at, lane.paused, lane.in_flight,
                   lane.max_in_flight, lane.gapless, lane.pacing, lane.otp_slot_at, lane.utility_slot_at,
                   lane.marketing_slot_at"""

_LANE = sql("SELECT {columns} FROM dispatcher.lanes AS lane WHERE lane.instance = :instance", columns=_LANE_COLUMNS)

_JOB = sql("""
    SELECT job.state, job.category, job.attempt, job.due_at, job.deliver_until, job.reason, job.resolve_by,
           before.otp, before.utility, before.marketing
      FROM dispatcher.jobs AS job
      LEFT JOIN LATERAL (
           SELECT max(jobs) FILTER (WHERE priority = 0) AS otp, max(jobs) FILTER (WHERE priority = 1) AS utility,
                  max(jobs) FILTER (WHERE priority = 2) AS marketing
             FROM (VALUES (0), (1), (2)) AS class(priority)
            CROSS JOIN LATERAL (
                  SELECT count(*) AS jobs FROM (
                      SELECT FROM dispatcher.jobs AS other
                       WHERE other.instance = job.instance AND other.priority = class.priority
                         AND other.state = 'READY' AND other.deliver_until > {now}
                         AND (class.priority < job.priority
                              OR other.urgent AND NOT job.urgent
                              OR other.urgent = job.urgent
                                 AND (other.due_at, other.message_id) < (job.due_at, job.message_id))
                       LIMIT :limit) AS found) AS counted
            WHERE class.priority <= job.priority) AS before ON job.state = 'READY'
     WHERE job.message_id = :message_id AND job.round = :round
""")

_DEPTHS = sql("""
    SELECT class.priority,
           (SELECT count(*) FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.priority = class.priority AND job.state = 'READY'
                LIMIT :limit) AS found) AS ready,
           (SELECT count(*) FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.priority = class.priority AND job.state = 'SCHEDULED'
                LIMIT :limit) AS found) AS scheduled,
           (SELECT count(*) FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.priority = class.priority AND job.state = 'UNCERTAIN'
                LIMIT :limit) AS found) AS uncertain
      FROM (VALUES (0), (1), (2)) AS class(priority)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """What waits in one category of a lane."""

    category: Category
    ready: int
    scheduled: int
    uncertain: int


async def find_lane(tx: Transaction, instance: str) -> LaneNow | None:
    """A lane as it is now."""
    row = (await tx.execute(_LANE, {"instance": instance})).mappings().one_or_none()
    return None if row is None else _lane(row)


async def find_job(tx: Transaction, ref: MessageRef, *, now: datetime | None) -> JobNow | None:
    """A job as it is now, and what leaves before it while it is READY."""
    parameters = {"message_id": ref.message_id, "round": ref.round, "limit": COUNT_MAX, "now": now}
    row = (await tx.execute(_JOB, parameters)).mappings().one_or_none()
    return None if row is None else _job(row)


async def depths(tx: Transaction, instance: str) -> list[Depth]:
    """What waits in a lane, by category."""
    categories: dict[int, Any] = {priority: category for category, priority in PRIORITY.items()}
    return [
        Depth(category=categories[row.priority], ready=row.ready, scheduled=row.scheduled, uncertain=row.uncertain)
        for row in await tx.execute(_DEPTHS, {"instance": instance, "limit": COUNT_MAX})
    ]


def _lane(row: RowMapping) -> LaneNow:
    return LaneNow(
        instance=row["instance"],
        state=ConnectionState(row["state"]),
        reason=row["state_reason"],
        observed_at=row["state_observed_at"],
        paused=row["paused"],
        in_flight=row["in_flight"],
        max_in_flight=row["max_in_flight"],
        gapless=row["gapless"],
        pacing=PacingPolicy.model_validate(row["pacing"]),
        slots={category: row[f"{category.value.lower()}_slot_at"] for category in Category},
    )


def _job(row: RowMapping) -> JobNow:
    return JobNow(
        state=JobState(row["state"]),
        category=Category(row["category"]),
        attempt=row["attempt"],
        due_at=row["due_at"],
        deliver_until=row["deliver_until"],
        reason=row["reason"],
        resolve_by=row["resolve_by"],
        ahead={category: row[category.value.lower()] or 0 for category in Category},
    )
