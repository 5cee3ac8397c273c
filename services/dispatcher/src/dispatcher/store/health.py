"""How lanes are doing: what became of their first contacts and last sends, and which of them need a look."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from chassis.database import Transaction
from dispatcher.domain.health import FirstContacts, RecentSends
from dispatcher.store.sql import rows_json, sql

COLD_SENDS_MAX = 200
"""First contacts of one lane that are looked at, the latest ones."""

SENDS_LOOKED_BACK = timedelta(hours=24)
"""A number that has rested for longer has nothing to be judged by."""

_FIRST_CONTACTS = sql("""
    SELECT asked.instance,
           count(*) FILTER (WHERE sent.receipt = 'FAILED') AS failed,
           count(*) FILTER (WHERE sent.receipt <> 'FAILED') AS arrived
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS asked(instance text, since timestamptz)
     CROSS JOIN LATERAL (
           SELECT receipt, receipt_at FROM dispatcher.jobs AS job
            WHERE job.instance = asked.instance AND job.state = 'DISPATCHED' AND job.cold
              AND job.finished_at >= asked.since - make_interval(secs => :looked_back_seconds)
            ORDER BY job.finished_at DESC LIMIT :limit) AS sent
     WHERE sent.receipt_at >= asked.since
     GROUP BY asked.instance
""")

_RESTRICT = sql("""
    WITH refused AS (
        SELECT lane.instance, given.until
          FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given(instance text, until timestamptz)
          JOIN dispatcher.lanes AS lane USING (instance)
         WHERE given.until > {now} AND (lane.cold_until IS NULL OR lane.cold_until <= {now})
         ORDER BY lane.instance FOR UPDATE OF lane)
    UPDATE dispatcher.lanes AS lane SET cold_until = refused.until
      FROM refused WHERE lane.instance = refused.instance
    RETURNING lane.instance
""")

_RECENT = sql("""
    SELECT lane.instance, lane.silent_since,
           coalesce((lane.pacing ->> 'pause_when_unacknowledged')::boolean, false) AS pauses,
           sends.seen, sends.silent, sends.newest_at
      FROM (SELECT instance, silent_since, pacing FROM dispatcher.lanes
             WHERE instance > :after ORDER BY instance LIMIT :lanes) AS lane
     CROSS JOIN LATERAL (
           SELECT count(*) AS seen, count(*) FILTER (WHERE receipt IS NULL) AS silent, max(finished_at) AS newest_at
             FROM (SELECT receipt, finished_at
                     FROM (VALUES (false), (true)) AS stream(cold)
                    CROSS JOIN LATERAL (
                          SELECT job.receipt, job.finished_at FROM dispatcher.jobs AS job
                           WHERE job.instance = lane.instance AND job.state = 'DISPATCHED' AND job.cold = stream.cold
                             AND job.finished_at < {now} - make_interval(secs => :quiet_seconds)
                             AND job.finished_at > {now} - make_interval(secs => :looked_back_seconds)
                           ORDER BY job.finished_at DESC LIMIT :sends) AS found
                    ORDER BY finished_at DESC LIMIT :sends) AS recent) AS sends
     ORDER BY lane.instance
""")

_NOTICE = sql("""
    UPDATE dispatcher.lanes SET silent_since = {now}
     WHERE instance = ANY(:instances) AND silent_since IS NULL
    RETURNING instance
""")

_DISMISS = sql("""
    UPDATE dispatcher.lanes SET silent_since = NULL
     WHERE instance = ANY(:instances) AND silent_since IS NOT NULL
    RETURNING instance
""")

_COUNT = sql("""
    SELECT count(*) FILTER (WHERE state = 'OPEN') AS open,
           count(*) FILTER (WHERE state <> 'OPEN') AS closed,
           count(*) FILTER (WHERE paused) AS paused,
           count(*) FILTER (WHERE state <> 'OPEN' AND suspect) AS sends_fail,
           count(*) FILTER (WHERE cold_until > {now}) AS first_contacts_refused,
           count(*) FILTER (WHERE silent_since IS NOT NULL) AS unacknowledged
      FROM dispatcher.lanes
""")


async def first_contacts(
    tx: Transaction, since: Mapping[str, datetime], *, looked_back: timedelta
) -> Sequence[FirstContacts]:
    """What was heard of first contacts since an instant of each lane, of those sent at most `looked_back` earlier."""
    rows = [{"instance": instance, "since": at} for instance, at in sorted(since.items())]
    parameters = {
        "rows": rows_json(rows),
        "looked_back_seconds": looked_back.total_seconds(),
        "limit": COLD_SENDS_MAX,
    }
    return [
        FirstContacts(instance=row.instance, failed=row.failed, arrived=row.arrived)
        for row in await tx.execute(_FIRST_CONTACTS, parameters)
    ]


async def restrict(tx: Transaction, until: Mapping[str, datetime], *, now: datetime | None) -> list[str]:
    """Stop the first contacts of lanes until an instant; which of them were not stopped already."""
    rows = [{"instance": instance, "until": at} for instance, at in sorted(until.items())]
    return list((await tx.execute(_RESTRICT, {"rows": rows_json(rows), "now": now})).scalars())


async def recent_sends(
    tx: Transaction, *, after: str, lanes: int, sends: int, quiet: timedelta, now: datetime | None
) -> Sequence[RecentSends]:
    """The last `sends` of each of some lanes, in the order of their names, that left at least `quiet` ago."""
    parameters = {
        "after": after,
        "lanes": lanes,
        "sends": sends,
        "quiet_seconds": quiet.total_seconds(),
        "looked_back_seconds": SENDS_LOOKED_BACK.total_seconds(),
        "now": now,
    }
    return [
        RecentSends(
            instance=row.instance,
            seen=row.seen,
            silent=row.silent,
            newest_at=row.newest_at,
            silent_since=row.silent_since,
            pauses=row.pauses,
        )
        for row in await tx.execute(_RECENT, parameters)
    ]


async def notice(tx: Transaction, instances: Collection[str], *, now: datetime | None) -> list[str]:
    """Remember that locked lanes are silent; which of them were not known to be."""
    return list((await tx.execute(_NOTICE, {"instances": sorted(instances), "now": now})).scalars())


async def dismiss(tx: Transaction, instances: Collection[str]) -> list[str]:
    """Locked lanes are heard again; which of them were known to be silent."""
    return list((await tx.execute(_DISMISS, {"instances": sorted(instances)})).scalars())


async def count_lanes(tx: Transaction, *, now: datetime | None) -> Mapping[str, int]:
    """How many lanes are in each condition; a lane may be in several."""
    return dict((await tx.execute(_COUNT, {"now": now})).mappings().one())
