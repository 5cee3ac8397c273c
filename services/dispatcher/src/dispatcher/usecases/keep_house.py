"""Forgets what is no longer needed, a bounded chunk at a time, and samples what there is."""

from dataclasses import dataclass
from datetime import timedelta

from chassis.database import Database
from chassis.retention import deleted_total
from dispatcher.store import echoes, removal, whereabouts
from dispatcher.usecases.clock import Clock, given
from dispatcher.usecases.close_lane import DRAIN
from dispatcher.usecases.measures import JOBS

CHUNK = 1_000
SAMPLE_MAX = 100_000
ECHO_RETENTION = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOld:
    """Delete finished jobs past `job_retention`, echoes past a day, and lanes that were removed that long ago."""

    database: Database
    job_retention: timedelta
    clock: Clock = None

    async def __call__(self) -> bool:
        """True if there is more."""
        now = given(self.clock)
        async with self.database.transaction() as tx:
            jobs = await whereabouts.purge_finished(tx, older_than=self.job_retention, limit=CHUNK, now=now)
        async with self.database.transaction() as tx:
            heard = await echoes.purge(tx, older_than=ECHO_RETENTION, limit=CHUNK, now=now)
        async with self.database.transaction() as tx:
            removed = await removal.forget(tx, older_than=self.job_retention, limit=CHUNK, now=now)
        for kind, count in (("job", jobs), ("echo", heard), ("removed_lane", removed)):
            deleted_total.labels(kind=kind).inc(count)
        return CHUNK in (jobs, heard, removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleJobs:
    """Set the gauge of unfinished jobs."""

    database: Database

    async def __call__(self) -> None:
        """Counts stop at a bound, so that sampling stays cheap."""
        async with self.database.transaction() as tx:
            counts = await whereabouts.count_open(tx, limit=SAMPLE_MAX)
        for state, count in counts.items():
            JOBS.labels(state=state.value).set(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLanes:
    """Which lanes take messages in."""

    database: Database
    clock: Clock = None

    async def __call__(self) -> list[str]:
        """Instance names."""
        async with self.database.transaction() as tx:
            return list(await removal.consumed(tx, drain=DRAIN, now=given(self.clock)))
