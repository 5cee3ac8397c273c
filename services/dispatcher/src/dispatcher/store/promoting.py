"""What has come due takes its place in its lane: the second and last door to READY."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chassis.database import Transaction
from dispatcher.store.sql import sql

_LOOK = sql("""
    WITH housed AS (
        UPDATE dispatcher.jobs AS job SET parked = false
          FROM (SELECT parked.message_id, parked.round
                  FROM dispatcher.jobs AS parked JOIN dispatcher.lanes AS lane USING (instance)
                 WHERE parked.state = 'SCHEDULED' AND parked.parked
                 LIMIT :limit FOR UPDATE OF parked SKIP LOCKED) AS found
         WHERE job.message_id = found.message_id AND job.round = found.round
        RETURNING job.instance),
    due AS (
        SELECT instance FROM dispatcher.jobs
         WHERE state = 'SCHEDULED' AND NOT parked AND due_at <= {now} AND deliver_until > {now}
         ORDER BY due_at LIMIT :limit)
    SELECT ARRAY(SELECT instance FROM housed UNION SELECT instance FROM due) AS instances,
           extract(epoch FROM (SELECT min(due_at) FROM dispatcher.jobs
                                WHERE state = 'SCHEDULED' AND NOT parked AND due_at > {now}) - {now}) AS seconds
""")

PROMOTE = sql("""
    WITH due AS MATERIALIZED (
        SELECT job.*, job.tag IS NULL AS is_new FROM dispatcher.jobs AS job
         WHERE job.state = 'SCHEDULED' AND NOT job.parked AND job.due_at <= {now} AND job.deliver_until > {now}
           AND job.instance = ANY(:instances)
         ORDER BY job.due_at LIMIT :limit FOR UPDATE SKIP LOCKED),
    placed AS MATERIALIZED (
        SELECT due.message_id, due.round, due.instance, due.rank, due.environment, due.tenant_id, due.tenant_weight,
               due.due_at, due.tag AS tag_before, due.is_new, lane.virtual, lane.floors,
               lane.instance IS NULL AS is_homeless,
               NOT EXISTS (SELECT FROM dispatcher.contacts AS contact
                            WHERE contact.instance = due.instance
                              AND contact.recipient_hash = due.recipient_hash) AS cold
          FROM due LEFT JOIN dispatcher.lanes AS lane ON lane.instance = due.instance),
    tagged AS MATERIALIZED (
        SELECT placed.*, CASE WHEN is_new THEN {tag} ELSE greatest(tag_before, floors[stream.place]) END AS tag
          FROM placed LEFT JOIN dispatcher.flows AS flow USING (instance, rank, tenant_id)
          JOIN (VALUES {streams}) AS stream(rank, environment, cold, place) USING (rank, environment, cold)
         WHERE NOT is_homeless),
    promoted AS (
        UPDATE dispatcher.jobs AS job
           SET state = CASE WHEN tagged.tag IS NULL THEN 'SCHEDULED' ELSE 'READY' END,
               parked = placed.is_homeless, tag = coalesce(tagged.tag, job.tag), cold = placed.cold,
               updated_at = {now}
          FROM placed LEFT JOIN tagged USING (message_id, round)
         WHERE job.message_id = placed.message_id AND job.round = placed.round),
    flowed AS (
        INSERT INTO dispatcher.flows (instance, rank, tenant_id, finish)
        SELECT instance, rank, tenant_id, max(tag + 1.0::double precision / tenant_weight)
          FROM tagged WHERE is_new GROUP BY instance, rank, tenant_id
            ON CONFLICT (instance, rank, tenant_id) DO UPDATE SET finish = greatest(flows.finish, excluded.finish)),
    woken AS (
        UPDATE dispatcher.lanes AS lane SET wake_at = {now}
         WHERE lane.instance IN (SELECT instance FROM tagged) AND {room} > 0
           AND (lane.wake_at IS NULL OR lane.wake_at > {now}))
    SELECT count(*) FROM placed
""")

_SWEEP = sql("""
    WITH swept AS (
        SELECT instance, floors, virtual FROM dispatcher.lanes
         WHERE instance > :after ORDER BY instance LIMIT :lanes FOR UPDATE SKIP LOCKED),
    strayed AS (
        SELECT job.message_id, job.round, swept.instance, swept.floors[stream.place] AS floor
          FROM swept
         CROSS JOIN (VALUES {streams}) AS stream(rank, environment, cold, place)
         CROSS JOIN LATERAL (
               SELECT waiting.message_id, waiting.round FROM dispatcher.jobs AS waiting
                WHERE waiting.instance = swept.instance AND waiting.rank = stream.rank
                  AND waiting.environment = stream.environment AND waiting.cold = stream.cold
                  AND waiting.state = 'READY' AND waiting.tag < swept.floors[stream.place]
                ORDER BY waiting.tag LIMIT :limit FOR UPDATE SKIP LOCKED) AS job),
    lifted AS (
        UPDATE dispatcher.jobs AS job SET tag = strayed.floor FROM strayed
         WHERE job.message_id = strayed.message_id AND job.round = strayed.round),
    woken AS (
        UPDATE dispatcher.lanes AS lane SET wake_at = least(lane.wake_at, {now})
         WHERE lane.instance IN (SELECT instance FROM strayed)),
    forgotten AS (
        DELETE FROM dispatcher.flows AS flow
         USING (SELECT spent.instance, spent.rank, spent.tenant_id
                  FROM swept JOIN dispatcher.flows AS spent USING (instance)
                 WHERE spent.finish <= swept.virtual[spent.rank + 1] LIMIT :flows) AS spent
         WHERE flow.instance = spent.instance AND flow.rank = spent.rank AND flow.tenant_id = spent.tenant_id)
    SELECT (SELECT max(instance) FROM swept) AS reached, (SELECT count(*) FROM strayed) AS strayed
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class DueWork:
    """In which lanes something is due, and when the next job will be; None if none is scheduled."""

    instances: Sequence[str]
    seconds_until_next: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """How far a sweep came and how many jobs it found below their floor."""

    reached: str | None
    strayed: int


async def look(tx: Transaction, *, limit: int, now: datetime | None) -> DueWork:
    """Where jobs are due; what waited for its number to be configured is brought back on the way."""
    row = (await tx.execute(_LOOK, {"limit": limit, "now": now})).one()
    seconds = None if row.seconds is None else float(row.seconds)
    return DueWork(instances=list(row.instances), seconds_until_next=seconds)


async def promote(tx: Transaction, instances: Sequence[str], *, limit: int, now: datetime | None) -> int:
    """Due jobs of locked lanes become READY, up to `limit`; how many were due.

    Those that come back keep their tag and pay no second time. Those of a lane nobody configured are parked.
    """
    parameters = {"instances": sorted(set(instances)), "limit": limit, "now": now}
    return int((await tx.execute(PROMOTE, parameters)).scalar_one())


async def sweep(tx: Transaction, *, after: str, lanes: int, limit: int, flows: int, now: datetime | None) -> Swept:
    """In some lanes by name: READY jobs below the floor of their stream are lifted to it, up to `limit` a stream.

    And up to `flows` finish tags are forgotten that virtual time has passed, for they say nothing any more.
    """
    parameters = {"after": after, "lanes": lanes, "limit": limit, "flows": flows, "now": now}
    row = (await tx.execute(_SWEEP, parameters)).one()
    return Swept(reached=row.reached, strayed=row.strayed)
