"""Lanes: how a number is configured, what is believed about its connection, and how many calls it has in flight."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from chassis.database import Transaction
from contracts.facts import NumberConfigured
from contracts.values import ConnectionState
from dispatcher.domain.fairness import RANKS, SLOTS, STREAMS
from dispatcher.domain.jobs import SealedAccess
from dispatcher.domain.lanes import Connection
from dispatcher.store.sql import NOW, prefixed, rows_json, sql

_CONNECTION = "instance, state, state_reason, state_observed_at, suspect, trial, probe_at, probe_failures"

UNUSED_PACE = {
    "idle": f"array_fill({NOW}, ARRAY[{SLOTS}])",
    "zeros_by_stream": f"array_fill(CAST(0 AS double precision), ARRAY[{STREAMS}])",
    "zeros_by_rank": f"array_fill(CAST(0 AS double precision), ARRAY[{RANKS}])",
}
"""The pace of a lane that has sent nothing, as parts of a statement."""

_CONFIGURE = sql(
    """
    INSERT INTO dispatcher.lanes AS lane (
           instance, number_id, version, gateway, sealed_access, pacing, platform_default, max_in_flight, paused,
           gap_at, hour_at, day_at, passed, cold_at, floors, virtual, wake_at, state, state_observed_at, probe_at)
    VALUES (:instance, :number_id, :version, :gateway, :sealed_access, CAST(:pacing AS jsonb), :platform_default,
            :max_in_flight, :paused, {idle}, {idle}, {idle}, ARRAY[0, 0, 0], {now}, {zeros_by_stream}, {zeros_by_rank},
            {now}, 'CONNECTING', to_timestamp(0), {now})
        ON CONFLICT (instance) DO UPDATE
       SET number_id = excluded.number_id, version = excluded.version, gateway = excluded.gateway,
           sealed_access = excluded.sealed_access, pacing = excluded.pacing,
           platform_default = excluded.platform_default, max_in_flight = excluded.max_in_flight,
           paused = excluded.paused, resumed = lane.resumed OR lane.paused AND NOT excluded.paused,
           state = CASE WHEN lane.removed_at IS NULL THEN lane.state ELSE excluded.state END,
           state_reason = CASE WHEN lane.removed_at IS NULL THEN lane.state_reason END,
           removed_at = NULL,
           wake_at = least(lane.wake_at, excluded.wake_at),
           probe_at = CASE WHEN lane.state = 'OPEN' AND lane.removed_at IS NULL THEN lane.probe_at
                           ELSE excluded.probe_at END
     WHERE lane.version < excluded.version
        OR lane.removed_at IS NOT NULL AND lane.number_id < excluded.number_id
    """,
    **UNUSED_PACE,
)

_ACCESS = sql("SELECT number_id, sealed_access FROM dispatcher.lanes WHERE instance = :instance")

_LOCK = sql(
    "SELECT {connection} FROM dispatcher.lanes WHERE instance = ANY(:instances) ORDER BY instance FOR UPDATE",
    connection=_CONNECTION,
)

_SAVE = sql("""
    UPDATE dispatcher.lanes AS lane
       SET in_flight = greatest(lane.in_flight - given.ended, 0), state = given.state,
           state_reason = given.state_reason, state_observed_at = given.state_observed_at, suspect = given.suspect,
           trial = given.trial, probe_at = given.probe_at, probe_failures = given.probe_failures,
           resumed = lane.resumed OR lane.state <> 'OPEN' AND given.state = 'OPEN',
           wake_at = least(lane.wake_at, {now})
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(
           instance text, ended integer, state text, state_reason text, state_observed_at timestamptz,
           suspect boolean, trial boolean, probe_at timestamptz, probe_failures integer)
     WHERE lane.instance = given.instance
""")

_FREE = sql("""
    UPDATE dispatcher.lanes AS lane
       SET in_flight = greatest(lane.in_flight - given.ended, 0), wake_at = least(lane.wake_at, {now})
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(instance text, ended integer)
     WHERE lane.instance = given.instance
""")

_TAKE_PROBES = sql(
    """
    WITH due AS (
        SELECT instance FROM dispatcher.lanes
         WHERE state <> 'OPEN' AND probe_at <= {now} AND removed_at IS NULL
         ORDER BY probe_at LIMIT :limit FOR UPDATE SKIP LOCKED)
    UPDATE dispatcher.lanes SET probe_at = {now} + make_interval(secs => :busy_seconds)
      FROM due WHERE lanes.instance = due.instance
    RETURNING number_id, sealed_access, {now} AS instant, {connection}
    """,
    connection=prefixed(_CONNECTION, "lanes"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A lane to ask the gateway about."""

    connection: Connection
    access: SealedAccess


async def configure(tx: Transaction, fact: NumberConfigured, *, now: datetime | None) -> bool:
    """Keep the newest version of a lane's configuration; a new lane is probed at once. True if this was newer."""
    parameters = {
        "instance": fact.instance,
        "number_id": fact.number_id,
        "version": fact.version,
        "gateway": fact.gateway,
        "sealed_access": fact.sealed_access,
        "pacing": fact.pacing.model_dump_json(),
        "platform_default": fact.platform_default,
        "max_in_flight": fact.pacing.max_in_flight,
        "paused": fact.paused,
        "now": now,
    }
    return (await tx.execute(_CONFIGURE, parameters)).rowcount > 0


async def access(tx: Transaction, instance: str) -> SealedAccess | None:
    """A number's sealed way to its gateway; None for an unknown lane."""
    row = (await tx.execute(_ACCESS, {"instance": instance})).one_or_none()
    return None if row is None else SealedAccess(number_id=row.number_id, sealed=row.sealed_access)


async def lock(tx: Transaction, names: Collection[str]) -> Sequence[Connection]:
    """What is believed about these lanes; locked in one order everywhere, so that writers cannot deadlock."""
    rows = (await tx.execute(_LOCK, {"instances": sorted(set(names))})).mappings()
    return [_connection(row) for row in rows]


async def save(
    tx: Transaction, connections: Sequence[Connection], *, ended: Mapping[str, int], now: datetime | None = None
) -> None:
    """Write what was decided about locked lanes; `ended` calls of each are no longer in flight. Each gets a look."""
    rows = [
        {
            "instance": connection.instance,
            "ended": ended.get(connection.instance, 0),
            "state": connection.state,
            "state_reason": connection.reason,
            "state_observed_at": connection.observed_at,
            "suspect": connection.suspect,
            "trial": connection.trial,
            "probe_at": connection.probe_at,
            "probe_failures": connection.probe_failures,
        }
        for connection in connections
    ]
    await tx.execute(_SAVE, {"rows": rows_json(rows), "now": now})


async def free(tx: Transaction, ended: Mapping[str, int], *, now: datetime | None = None) -> None:
    """`ended` calls of each locked lane are no longer in flight, so that there is room for others."""
    rows = [{"instance": instance, "ended": count} for instance, count in sorted(ended.items())]
    await tx.execute(_FREE, {"rows": rows_json(rows), "now": now})


async def take_probes(
    tx: Transaction, *, limit: int, busy: timedelta, now: datetime | None
) -> tuple[Sequence[Probe], datetime | None]:
    """Lanes whose probe is due, for this process alone during `busy`; and the instant they were taken."""
    parameters = {"limit": limit, "busy_seconds": busy.total_seconds(), "now": now}
    rows = (await tx.execute(_TAKE_PROBES, parameters)).mappings().all()
    probes = [
        Probe(
            connection=_connection(row),
            access=SealedAccess(number_id=row["number_id"], sealed=row["sealed_access"]),
        )
        for row in rows
    ]
    return probes, rows[0]["instant"] if rows else None


def _connection(row: RowMapping) -> Connection:
    return Connection(
        instance=row["instance"],
        state=ConnectionState(row["state"]),
        reason=row["state_reason"],
        observed_at=row["state_observed_at"],
        suspect=row["suspect"],
        trial=row["trial"],
        probe_at=row["probe_at"],
        probe_failures=row["probe_failures"],
    )
