"""Where one job is and what goes before it, and how deep one lane is; every count stops at a bound."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.values import Category, ConnectionState, Environment, MessageRef, PacingPolicy
from dispatcher.domain.forecast import JobNow, LaneNow
from dispatcher.domain.jobs import PRIORITY, JobState
from dispatcher.store.claiming import pace_of
from dispatcher.store.sql import sql

COUNT_MAX = 10_000
TENANTS_MAX = 5

_LANE = sql("""
    SELECT lane.instance, lane.state, lane.state_reason, lane.state_observed_at, lane.paused, lane.in_flight,
           lane.max_in_flight, lane.pacing, lane.gap_at, lane.hour_at, lane.day_at, lane.passed, lane.cold_at,
           lane.cold_until, lane.floors, lane.virtual, lane.suspect, lane.probe_at, lane.silent_since
      FROM dispatcher.lanes AS lane WHERE lane.instance = :instance
""")

JOB = sql("""
    SELECT job.state, job.environment, job.category, job.cold, job.attempt, job.due_at, job.deliver_until, job.reason,
           job.resolve_by, before.otp, before.utility, before.marketing
      FROM dispatcher.jobs AS job
      LEFT JOIN dispatcher.lanes AS lane ON lane.instance = job.instance
      LEFT JOIN LATERAL (
           SELECT least(coalesce(sum(jobs) FILTER (WHERE rank / 2 = 0), 0), :limit) AS otp,
                  least(coalesce(sum(jobs) FILTER (WHERE rank / 2 = 1), 0), :limit) AS utility,
                  least(coalesce(sum(jobs) FILTER (WHERE rank / 2 = 2), 0), :limit) AS marketing
             FROM (VALUES {streams}) AS stream(rank, environment, cold, place)
            CROSS JOIN LATERAL (
                  SELECT count(*) AS jobs FROM (
                      SELECT FROM dispatcher.jobs AS other
                       WHERE other.instance = job.instance AND other.rank = stream.rank
                         AND other.environment = stream.environment AND other.cold = stream.cold
                         AND other.state = 'READY' AND other.deliver_until > {now}
                         AND other.tag >= lane.floors[stream.place]
                         AND other.tag <= CASE WHEN stream.rank < job.rank THEN 'infinity' ELSE job.tag END
                         AND (stream.rank < job.rank OR (other.tag, other.due_at, other.message_id)
                                                      < (job.tag, job.due_at, job.message_id))
                       LIMIT :limit) AS found) AS counted
            WHERE stream.rank <= job.rank) AS before ON job.state = 'READY'
     WHERE job.message_id = :message_id AND job.round = :round
""")

DEPTHS = sql("""
    SELECT class.priority, ready.jobs AS ready, ready.urgent, ready.oldest_due_at,
           (SELECT count(*) FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.priority = class.priority AND job.state = 'SCHEDULED'
                LIMIT :limit) AS found) AS scheduled,
           (SELECT count(*) FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.priority = class.priority AND job.state = 'UNCERTAIN'
                LIMIT :limit) AS found) AS uncertain
      FROM (VALUES (0), (1), (2)) AS class(priority)
     CROSS JOIN LATERAL (
           SELECT least(sum(counted.jobs), :limit) AS jobs, min(counted.oldest_due_at) AS oldest_due_at,
                  least(sum(counted.jobs) FILTER (WHERE stream.rank % 2 = 0), :limit) AS urgent
             FROM (VALUES {streams}) AS stream(rank, environment, cold, place)
            CROSS JOIN LATERAL (
                  SELECT count(*) AS jobs, min(found.due_at) AS oldest_due_at FROM (
                      SELECT job.due_at FROM dispatcher.jobs AS job
                       WHERE job.instance = :instance AND job.rank = stream.rank AND job.state = 'READY'
                         AND job.environment = stream.environment AND job.cold = stream.cold
                       ORDER BY job.tag, job.due_at, job.message_id LIMIT :limit) AS found) AS counted
            WHERE stream.rank / 2 = class.priority) AS ready
""")

_SENT = sql("""
    SELECT least(sum(counted.jobs), :limit) AS jobs
      FROM (VALUES (false), (true)) AS stream(cold)
     CROSS JOIN LATERAL (
           SELECT count(*) AS jobs FROM (
               SELECT FROM dispatcher.jobs AS job
                WHERE job.instance = :instance AND job.cold = stream.cold AND job.state = 'DISPATCHED'
                  AND job.finished_at > {now} - interval '1 hour' LIMIT :limit) AS found) AS counted
""")

_TENANTS = sql("""
    SELECT tenant_id, count(*) AS ready
      FROM (SELECT tenant_id FROM dispatcher.jobs AS job
             WHERE job.instance = :instance AND job.state = 'READY' LIMIT :limit) AS found
     GROUP BY tenant_id ORDER BY ready DESC, tenant_id LIMIT :tenants
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """What waits in one category of a lane; `oldest_due_at` is among those that are READY and counted."""

    category: Category
    ready: int
    urgent: int
    scheduled: int
    uncertain: int
    oldest_due_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of the jobs that are READY in a lane, as far as they are counted, are one tenant's."""

    tenant_id: UUID
    ready: int


async def find_lane(tx: Transaction, instance: str) -> LaneNow | None:
    """A lane as it is now."""
    row = (await tx.execute(_LANE, {"instance": instance})).mappings().one_or_none()
    return None if row is None else _lane(row)


async def find_job(tx: Transaction, ref: MessageRef, *, now: datetime | None) -> JobNow | None:
    """A job as it is now, and what leaves before it while it is READY."""
    parameters = {"message_id": ref.message_id, "round": ref.round, "limit": COUNT_MAX, "now": now}
    row = (await tx.execute(JOB, parameters)).mappings().one_or_none()
    return None if row is None else _job(row)


async def depths(tx: Transaction, instance: str) -> list[Depth]:
    """What waits in a lane, by category."""
    categories: dict[int, Any] = {priority: category for category, priority in PRIORITY.items()}
    return [
        Depth(
            category=categories[row.priority],
            ready=int(row.ready),
            urgent=int(row.urgent),
            scheduled=row.scheduled,
            uncertain=row.uncertain,
            oldest_due_at=row.oldest_due_at,
        )
        for row in await tx.execute(DEPTHS, {"instance": instance, "limit": COUNT_MAX})
    ]


async def sent_last_hour(tx: Transaction, instance: str, *, now: datetime | None) -> int:
    """How many messages left over a lane in the last hour."""
    return int((await tx.execute(_SENT, {"instance": instance, "limit": COUNT_MAX, "now": now})).scalar_one())


async def top_tenants(tx: Transaction, instance: str) -> list[Share]:
    """Whose jobs wait in a lane, the most first, up to `TENANTS_MAX`."""
    parameters = {"instance": instance, "limit": COUNT_MAX, "tenants": TENANTS_MAX}
    return [Share(tenant_id=row.tenant_id, ready=row.ready) for row in await tx.execute(_TENANTS, parameters)]


def _lane(row: RowMapping) -> LaneNow:
    return LaneNow(
        instance=row["instance"],
        state=ConnectionState(row["state"]),
        reason=row["state_reason"],
        observed_at=row["state_observed_at"],
        paused=row["paused"],
        in_flight=row["in_flight"],
        max_in_flight=row["max_in_flight"],
        pacing=PacingPolicy.model_validate(row["pacing"]),
        pace=pace_of(row),
        suspect=row["suspect"],
        probe_at=row["probe_at"],
        silent_since=row["silent_since"],
    )


def _job(row: RowMapping) -> JobNow:
    return JobNow(
        state=JobState(row["state"]),
        environment=Environment(row["environment"]),
        category=Category(row["category"]),
        cold=row["cold"],
        attempt=row["attempt"],
        due_at=row["due_at"],
        deliver_until=row["deliver_until"],
        reason=row["reason"],
        resolve_by=row["resolve_by"],
        ahead={category: int(row[category.value.lower()] or 0) for category in Category},
    )
