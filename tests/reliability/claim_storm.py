"""Many claim loops on the same lanes, each on connections of its own, claiming and settling as fast as they can."""

import asyncio
import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import asyncpg
from tests.bench.claim_ground import JOBS, LANES

from chassis.database import Database, UnavailableError
from chassis.group_commit import GroupCommit
from contracts.values import PacingPolicy
from dispatcher.domain.jobs import Attempt, JobKey
from dispatcher.domain.rules import Rules
from dispatcher.domain.verdicts import Dispatched
from dispatcher.store.settling import Settlement
from dispatcher.tables import metadata, outbox
from dispatcher.usecases.claim_due import ClaimDue
from dispatcher.usecases.settle_attempts import SettleAttempts

CAPACITY = 100
IDLE_SECONDS, IDLE_SECONDS_MAX = 0.005, 0.05
LOAD_SECONDS_MAX = 120.0
RULES = Rules(lease=timedelta(minutes=10))


@dataclass(slots=True)
class Storm:
    """What was claimed, by whom and in which order of its lane; `refused` counts settles that had to be repeated."""

    jobs: int
    claimed: Counter[JobKey] = field(default_factory=Counter)
    by_replica: Counter[int] = field(default_factory=Counter)
    by_lane: defaultdict[str, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    fenced: int = 0
    refused: int = 0
    _ids: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def is_over(self) -> bool:
        """Whether every job was claimed at least once."""
        return len(self.claimed) >= self.jobs

    async def claim(self, databases: Sequence[Database]) -> None:
        """Until everything is claimed and settled; one loop for each database."""
        async with asyncio.TaskGroup() as loops:
            for number, database in enumerate(databases):
                loops.create_task(self._work(number, database))

    async def _work(self, number: int, database: Database) -> None:
        claim_due = ClaimDue(database=database, rules=RULES, dice=_even)
        settling = GroupCommit(database, SettleAttempts(dice=_even))
        dice = random.Random(number)  # loops in step would leave every opening to the same one
        while not self.is_over:
            try:
                claimed = await claim_due(CAPACITY)
            except UnavailableError:
                self.refused += 1
                continue
            for attempt in claimed.attempts:
                self.claimed[attempt.key] += 1
                self.by_replica[number] += 1
                self.by_lane[attempt.ref.instance].append(attempt)
            await asyncio.gather(*(self._settle(settling, attempt) for attempt in claimed.attempts))
            if not claimed.attempts:
                wait = claimed.seconds_until_work
                idle = IDLE_SECONDS_MAX if wait is None else min(max(wait, IDLE_SECONDS), IDLE_SECONDS_MAX)
                await asyncio.sleep(idle * (0.5 + dice.random()))

    async def _settle(self, settling: "GroupCommit[Settlement, bool]", attempt: Attempt) -> None:
        verdict = Dispatched(key_id=f"K{next(self._ids)}")
        while True:
            try:
                if not await settling.submit(Settlement(attempt=attempt, verdict=verdict, ended_at=attempt.started_at)):
                    self.fenced += 1
                return
            except UnavailableError:
                self.refused += 1


async def fill(admin: "asyncpg.Connection[Any]", *, jobs: int, lanes: int, policy: PacingPolicy) -> None:
    """So many READY jobs, evenly over open lanes."""
    names = ", ".join(str(table) for table in metadata.sorted_tables)
    await admin.execute(f"TRUNCATE {names}")
    await admin.execute(LANES, lanes, json.dumps(policy.model_dump(mode="json")))
    await admin.execute("UPDATE dispatcher.lanes SET max_in_flight = $1", policy.max_in_flight)
    await admin.execute(JOBS, jobs, lanes, 10, timeout=LOAD_SECONDS_MAX)
    await admin.execute("VACUUM (ANALYZE) dispatcher.jobs, dispatcher.lanes", timeout=LOAD_SECONDS_MAX)


def open_replicas(url: str, count: int) -> list[Database]:
    """Pools as small as a loop can do with."""
    return [Database(url, outbox=outbox, pool_size=2, name="storm") for _ in range(count)]


async def state_of_jobs(admin: "asyncpg.Connection[Any]") -> dict[str, Any]:
    """What the tables say in the end."""
    row = await admin.fetchrow(
        "SELECT count(*) AS jobs, count(*) FILTER (WHERE state = 'DISPATCHED' AND attempt = 1) AS sent_at_first,"
        " (SELECT count(*) FROM dispatcher.attempts) AS attempts,"
        " (SELECT sum(in_flight) FROM dispatcher.lanes) AS in_flight,"
        " (SELECT count(*) FROM dispatcher.outbox) AS facts FROM dispatcher.jobs"
    )
    assert row is not None
    return dict(row)


def _even() -> float:
    return 0.5
