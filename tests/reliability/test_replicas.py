"""Replicas on the same lanes: no job is claimed twice, and each lane's pace and order are as with one."""

from collections.abc import AsyncIterator
from itertools import pairwise
from statistics import median
from typing import Any

import asyncpg
import pytest
from tests.reliability.claim_storm import Storm, fill, open_replicas, state_of_jobs

from chassis.testing.template_database import TestDatabase
from contracts.values import Pace, PacingPolicy

GAPLESS = Pace(min_ms=0, max_ms=0)
GAP_SECONDS = 0.02
PACED = Pace(min_ms=20, max_ms=20)
CATCH_UP_SECONDS = 0.01
"""Half a gap: what a claim that came late may make good."""
STALLED_MAX = 5
"""Gaps that a process may stand still between the first decision and its claim."""


@pytest.fixture
async def admin(module_database: TestDatabase) -> "AsyncIterator[asyncpg.Connection[Any]]":
    connection = await asyncpg.connect(module_database.admin_url)
    yield connection
    await connection.close()


async def run_storm(url: str, storm: Storm, replicas: int) -> None:
    databases = open_replicas(url, replicas)
    try:
        await storm.claim(databases)
    finally:
        for database in databases:
            await database.stop()


@pytest.mark.parametrize(("replicas", "jobs"), [(2, 4_000), (4, 12_000)])
async def test_no_job_is_claimed_twice(
    module_database: TestDatabase, admin: "asyncpg.Connection[Any]", replicas: int, jobs: int
) -> None:
    """100,000 are claimed by `python -m tests.bench dispatch`."""
    policy = PacingPolicy(otp=GAPLESS, utility=GAPLESS, marketing=GAPLESS, max_in_flight=100)
    await fill(admin, jobs=jobs, lanes=8, policy=policy)
    storm = Storm(jobs)
    await run_storm(module_database.url("dispatcher"), storm, replicas)
    assert [key for key, times in storm.claimed.items() if times > 1] == []
    assert storm.fenced == 0
    assert len(storm.by_replica) == replicas, "some replica never claimed, so they did not compete"
    assert await state_of_jobs(admin) == {
        "jobs": jobs,
        "sent_at_first": jobs,
        "attempts": jobs,
        "in_flight": 0,
        "facts": jobs,
    }


@pytest.mark.parametrize("replicas", [2, 4])
async def test_pace_and_order_are_a_lanes_own(
    module_database: TestDatabase, admin: "asyncpg.Connection[Any]", replicas: int
) -> None:
    """A turn is decided just before the claim whose instant the attempt has: a stall in between moves one of them."""
    lanes, jobs = 3, 180
    policy = PacingPolicy(otp=PACED, utility=PACED, marketing=PACED, max_in_flight=1, min_share=None)
    await fill(admin, jobs=jobs, lanes=lanes, policy=policy)
    rows = await admin.fetch(
        "SELECT instance, message_id FROM dispatcher.jobs ORDER BY instance, priority, urgent DESC, tag, message_id"
    )
    storm = Storm(jobs)
    await run_storm(module_database.url("dispatcher"), storm, replicas)
    assert len(storm.by_replica) == replicas
    for instance, attempts in storm.by_lane.items():
        ordered = sorted(attempts, key=lambda attempt: attempt.leaves_at)
        starts = [attempt.leaves_at for attempt in ordered]
        gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(starts)]
        assert median(gaps) >= GAP_SECONDS - CATCH_UP_SECONDS
        assert sum(gaps) >= GAP_SECONDS * (len(gaps) - STALLED_MAX)
        wanted = [row["message_id"] for row in rows if row["instance"] == instance]
        assert [attempt.ref.message_id for attempt in ordered] == wanted
