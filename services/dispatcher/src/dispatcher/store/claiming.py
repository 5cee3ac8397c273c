"""The claim's three statements under the locks of its lanes: who deserves a look, who waits there, who goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.values import Category, Environment, PacingPolicy
from dispatcher.domain.claim_pass import DueLane, LaneTurn, Look
from dispatcher.domain.jobs import Attempt, JobKey, SealedAccess
from dispatcher.domain.lane_pace import LanePace
from dispatcher.domain.pacing import Terms, terms_of
from dispatcher.domain.turns import Head
from dispatcher.store.sql import ref_of, rows_json, sql

LOCK_DUE = sql("""
    WITH due AS MATERIALIZED (
        SELECT lane.instance, lane.number_id, lane.sealed_access, CAST(lane.pacing AS text) AS pacing, lane.resumed,
               {room} AS room, lane.gap_at, lane.hour_at, lane.day_at, lane.passed, lane.cold_at, lane.cold_until,
               lane.floors, lane.virtual
          FROM dispatcher.lanes AS lane
         WHERE lane.wake_at <= {now} AND {claimable}
         ORDER BY lane.wake_at LIMIT :capacity FOR UPDATE SKIP LOCKED)
    SELECT {now} AS instant, others.wake_at AS others_wake_at, due.*
      FROM (SELECT (SELECT lane.wake_at FROM dispatcher.lanes AS lane
                     WHERE lane.wake_at IS NOT NULL AND {claimable}
                       AND lane.instance <> ALL(ARRAY(SELECT instance FROM due))
                     ORDER BY lane.wake_at LIMIT 1) AS wake_at) AS others
      LEFT JOIN due ON true
""")
"""One row at least, so that an idle pass is this statement alone."""

READ_HEADS = sql("""
    SELECT asked.instance, job.message_id, job.round, job.tenant_id, job.environment, job.category, job.urgent,
           job.cold, job.tag, job.due_at, contact.last_sent_at IS NOT NULL AS known,
           coalesce(lane.platform_default AND job.suspected_since IS NULL AND job.round = 1
                    AND contact.last_text_hash = job.text_hash
                    AND contact.last_sent_at > {now} - make_interval(secs =>
                        coalesce((lane.pacing ->> 'do_not_repeat_seconds')::double precision, 86400)), false) AS repeats
      FROM unnest(:instances, :depths) AS asked(instance, depth)
      JOIN dispatcher.lanes AS lane ON lane.instance = asked.instance
     CROSS JOIN (VALUES {streams}) AS stream(rank, environment, cold, place)
     CROSS JOIN LATERAL (
           SELECT message_id, round, tenant_id, environment, category, urgent, cold, tag, due_at, suspected_since,
                  recipient_hash, text_hash
             FROM dispatcher.jobs AS waiting
            WHERE waiting.instance = asked.instance AND waiting.rank = stream.rank
              AND waiting.environment = stream.environment AND waiting.cold = stream.cold
              AND waiting.state = 'READY' AND waiting.tag >= lane.floors[stream.place]
              AND waiting.deliver_until > {now}
            ORDER BY waiting.tag, waiting.due_at, waiting.message_id LIMIT asked.depth) AS job
      LEFT JOIN LATERAL (
           SELECT last_text_hash, last_sent_at FROM dispatcher.contacts AS told
            WHERE told.instance = asked.instance AND told.recipient_hash = job.recipient_hash
              AND (job.cold OR lane.platform_default) LIMIT 1) AS contact ON true
""")
"""Each stream's order is that of one index above its floor, so that neither the backlog nor the dead are read."""

CLAIM = sql("""
    WITH chosen AS MATERIALIZED (
        SELECT job.message_id, job.round
          FROM jsonb_to_recordset(CAST(:picks AS jsonb)) AS picked(message_id uuid, round integer)
          JOIN dispatcher.jobs AS job USING (message_id, round)
         WHERE job.state = 'READY' AND job.deliver_until > {now}
           FOR UPDATE OF job SKIP LOCKED),
    claimed AS (
        UPDATE dispatcher.jobs AS job
           SET state = 'IN_FLIGHT', attempt = job.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = {now} + make_interval(secs => :lease_seconds), started_at = {now}, updated_at = {now},
               place_given_up = false,
               cold = job.cold AND NOT EXISTS (SELECT FROM dispatcher.contacts AS contact
                                                WHERE contact.instance = job.instance
                                                  AND contact.recipient_hash = job.recipient_hash)
          FROM chosen
         WHERE job.message_id = chosen.message_id AND job.round = chosen.round
        RETURNING job.*),
    noted AS (
        INSERT INTO dispatcher.attempts (message_id, round, attempt, started_at)
        SELECT message_id, round, attempt, started_at FROM claimed),
    turn AS (
        SELECT given.*, spent.jobs, spent.jobs < given.picks AS missed
          FROM jsonb_to_recordset(CAST(:turns AS jsonb)) AS given(
               instance text, picks integer, leaves_at timestamptz, wake_at timestamptz, gap_at timestamptz[],
               hour_at timestamptz[], day_at timestamptz[], passed integer[], cold_at timestamptz,
               floors double precision[], virtual double precision[])
         CROSS JOIN LATERAL (SELECT count(*) AS jobs FROM claimed WHERE claimed.instance = given.instance) AS spent),
    advanced AS (
        UPDATE dispatcher.lanes AS lane
           SET in_flight = lane.in_flight + turn.jobs, trial = lane.trial AND turn.jobs = 0, resumed = false,
               wake_at = CASE WHEN turn.missed THEN lane.wake_at ELSE turn.wake_at END,
               gap_at = turn.gap_at, hour_at = turn.hour_at, day_at = turn.day_at, passed = turn.passed,
               cold_at = turn.cold_at, virtual = turn.virtual,
               floors = CASE WHEN turn.missed THEN lane.floors ELSE turn.floors END
          FROM turn WHERE lane.instance = turn.instance AND (turn.picks = 0 OR turn.jobs > 0))
    SELECT claimed.*, turn.leaves_at, lane.sealed_access, lane.number_id AS lane_number_id,
           CAST(lane.pacing AS text) AS pacing
      FROM claimed JOIN turn USING (instance) JOIN dispatcher.lanes AS lane USING (instance)
""")
"""A pick that somebody locked meanwhile is missed: the lane stays due, and no floor is lifted over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueLanes:
    """Lanes that deserve a look, locked, those that wait longest first; and when the first of all others does."""

    lanes: Sequence[DueLane]
    now: datetime
    others_wake_at: datetime | None


async def lock_due(tx: Transaction, *, capacity: int, now: datetime | None) -> DueLanes:
    """Up to `capacity` lanes; those that somebody else is at work in are left to him."""
    rows = (await tx.execute(LOCK_DUE, {"capacity": capacity, "now": now})).mappings().all()
    return DueLanes(
        lanes=[_lane(row) for row in rows if row["instance"] is not None],
        now=rows[0]["instant"],
        others_wake_at=rows[0]["others_wake_at"],
    )


async def read_heads(tx: Transaction, looks: Sequence[Look], *, now: datetime) -> dict[str, list[Head]]:
    """The first READY jobs of each stream of locked lanes that are still in time, by lane and in order.

    Only after the locks were taken: what became READY before is then seen, and nothing becomes READY meanwhile.
    """
    parameters = {"instances": [look.instance for look in looks], "depths": [look.depth for look in looks], "now": now}
    heads: dict[str, list[Head]] = {}
    for row in (await tx.execute(READ_HEADS, parameters)).mappings():
        heads.setdefault(row["instance"], []).append(_head(row))
    for waiting in heads.values():
        waiting.sort(key=lambda head: (head.tag, head.due_at, head.key))
    return heads


async def claim(
    tx: Transaction, turns: Sequence[LaneTurn], *, lease: timedelta, now: datetime | None = None
) -> Sequence[Attempt]:
    """Carry out the turns of locked lanes: the picks become IN_FLIGHT, unless they are late, gone or locked."""
    parameters = {
        "picks": rows_json([key_row(head.key) for one in turns for head in one.turn.picks]),
        "turns": rows_json([turn_row(one) for one in turns]),
        "lease_seconds": lease.total_seconds(),
        "now": now,
    }
    return [_attempt(row) for row in (await tx.execute(CLAIM, parameters)).mappings()]


def _lane(row: RowMapping) -> DueLane:
    return DueLane(
        instance=row["instance"],
        access=SealedAccess(number_id=row["number_id"], sealed=row["sealed_access"]),
        terms=_terms(row["pacing"]),
        pace=pace_of(row),
        room=row["room"],
        resumed=row["resumed"],
    )


def pace_of(row: RowMapping) -> LanePace:
    """The pacing state in a lane's row."""
    return LanePace(
        gap_at=tuple(row["gap_at"]),
        hour_at=tuple(row["hour_at"]),
        day_at=tuple(row["day_at"]),
        passed=tuple(row["passed"]),
        cold_at=row["cold_at"],
        cold_until=row["cold_until"],
        floors=tuple(row["floors"]),
        virtual=tuple(row["virtual"]),
    )


@lru_cache(maxsize=4_096)
def _policy(pacing: str) -> PacingPolicy:
    return PacingPolicy.model_validate_json(pacing)


@lru_cache(maxsize=4_096)
def _terms(pacing: str) -> Terms:
    return terms_of(_policy(pacing))


def _head(row: RowMapping) -> Head:
    return Head(
        key=(row["message_id"], row["round"]),
        tenant_id=row["tenant_id"],
        environment=Environment(row["environment"]),
        category=Category(row["category"]),
        urgent=row["urgent"],
        cold=row["cold"],
        tag=row["tag"],
        due_at=row["due_at"],
        known=row["known"],
        repeats=row["repeats"],
    )


def key_row(key: JobKey) -> dict[str, Any]:
    """A pick, as the claim takes it."""
    return {"message_id": key[0], "round": key[1]}


def turn_row(one: LaneTurn) -> dict[str, Any]:
    """What is to be written about a lane, as the claim takes it."""
    pace = one.turn.pace
    return {
        "instance": one.instance,
        "picks": len(one.turn.picks),
        "leaves_at": one.turn.leaves_at,
        "wake_at": one.turn.wake_at,
        "gap_at": pace.gap_at,
        "hour_at": pace.hour_at,
        "day_at": pace.day_at,
        "passed": pace.passed,
        "cold_at": pace.cold_at,
        "floors": pace.floors,
        "virtual": pace.virtual,
    }


def _attempt(row: RowMapping) -> Attempt:
    return Attempt(
        ref=ref_of(row),
        attempt=row["attempt"],
        lease_token=row["lease_token"],
        started_at=row["started_at"],
        leaves_at=row["leaves_at"],
        deliver_until=row["deliver_until"],
        sealed=row["sealed"],
        access=SealedAccess(number_id=row["lane_number_id"], sealed=row["sealed_access"]),
        recipient_hash=row["recipient_hash"],
        text_hash=row["text_hash"],
        duplicate_possible=row["duplicate_possible"],
        policy=_policy(row["pacing"]),
        waited_for=row["reason"],
    )
