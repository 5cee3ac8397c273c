"""How fast a dispatcher empties its lanes with pacing off, beside a bare loop of posts; and how replicas compete."""

import asyncio
import contextlib
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import httpx
from tests.bench.claim_ground import PASSWORD, SCHEMA
from tests.bench.report import Line, rate, remark
from tests.bench.rounds import interleaved
from tests.bench.running import run
from tests.integration.dispatcher.gateway import Gateway
from tests.integration.dispatcher.process import API_KEY, World, open_world
from tests.integration.dispatcher.rig import FAST, Now, Rig
from tests.reliability.claim_storm import Storm, fill, open_replicas, state_of_jobs

import dispatcher
from chassis.migrations import Migrations
from chassis.provisioning import provision
from chassis.testing.waiting import eventually
from contracts.facts import MessageAccepted
from dispatcher.tables import metadata
from local_stack.workspace import Workspace

BENCH = "dispatch"
BAR = 0.5
NUMBERS = 4
UNPACED = FAST.model_copy(update={"max_in_flight": 8})
CALLS_AT_ONCE = NUMBERS * UNPACED.max_in_flight
BATCH = 500
DRAIN_SECONDS_MAX = 240.0
STORM_REPLICAS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Messages a round, rounds of each contender, and jobs that replicas compete for."""

    messages: int = 1_000
    rounds: int = 3
    storm_jobs: int = 100_000


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Both send the same to the same gateway over four numbers, as many calls at once."""
    return run(_measure(workspace, size))


def drained_per_second(workspace: Workspace, *, messages: int) -> float:
    """Sends per second of a dispatcher with pacing off, for what has to keep up with it."""
    return run(_figures(workspace, Size(messages=messages, rounds=1)))["ours"]


async def _figures(workspace: Workspace, size: Size) -> dict[str, float]:
    url = workspace.database_url(SCHEMA, PASSWORD)
    await provision(workspace.database_admin_url, database_url=url, schema=SCHEMA)
    await Migrations(metadata=metadata, package=Path(str(dispatcher.__file__)).parent).upgrade(url)
    with tempfile.TemporaryDirectory() as folder:
        async with open_world(url, workspace.broker_url, Path(folder), {"LEASE_SECONDS": "60"}) as world:
            return await _compare(world, url, size)


async def _measure(workspace: Workspace, size: Size) -> list[Line]:
    figures = await _figures(workspace, size)
    ours, what = figures["ours"], f"dispatcher, pacing off, {size.messages} waiting"
    return [
        rate(BENCH, f"bare post loop, {CALLS_AT_ONCE} at once", figures["bare"]),
        rate(BENCH, f"{what}, beside it", ours, reference=figures["bare"], bar=BAR),
        rate(BENCH, "bare post loop, a connection for each as we have", figures["unpooled"]),
        rate(BENCH, f"{what}, beside that", ours, reference=figures["unpooled"], bar=BAR),
        *await _storm(workspace, workspace.database_url(SCHEMA, PASSWORD), size),
    ]


async def _compare(world: World, url: str, size: Size) -> dict[str, float]:
    names = [f"bench{number}" for number in range(NUMBERS)]
    await world.instances(*names)
    await world.script({"match": {}, "receipts": {"statuses": [], "echo": "off"}})
    await world.say(*(world.configured(name, pacing=UNPACED) for name in names))
    now = Now(datetime.now(UTC))
    rig = Rig(url, now, Gateway(now))
    try:
        await eventually(lambda: _open(rig), "four open lanes", timeout_seconds=60)
        return await interleaved(
            {
                "bare": lambda: _post_all(world, names, size.messages, pooled=True),
                "unpooled": lambda: _post_all(world, names, size.messages, pooled=False),
                "ours": lambda: _drain(rig, names, size.messages),
            },
            rounds=size.rounds,
        )
    finally:
        await rig.database.stop()


async def _open(rig: Rig) -> bool:
    [row] = await rig.rows("SELECT count(*) AS lanes FROM dispatcher.lanes WHERE state = 'OPEN'")
    return bool(row.lanes == NUMBERS)


async def _post_all(world: World, names: list[str], count: int, *, pooled: bool) -> float:
    """Sends per second of a loop that remembers nothing."""
    limits = httpx.Limits(max_connections=CALLS_AT_ONCE, max_keepalive_connections=None if pooled else 0)
    numbers = iter(range(count))
    async with httpx.AsyncClient(
        base_url=world.simulator_url, headers={"apikey": API_KEY}, trust_env=False, limits=limits, timeout=60
    ) as http:

        async def work() -> None:
            for number in numbers:
                body = {"number": "5547991234567", "text": f"bare {number}"}
                (await http.post(f"/message/sendText/{names[number % NUMBERS]}", json=body)).raise_for_status()

        return await _timed(lambda: asyncio.gather(*(work() for _ in range(CALLS_AT_ONCE))), count)


async def _timed(work: Callable[[], Awaitable[object]], count: int) -> float:
    started = time.perf_counter()
    await work()
    return count / (time.perf_counter() - started)


_texts = itertools.count()


async def _drain(rig: Rig, names: list[str], count: int) -> float:
    """Sends per second from the moment the lanes may go to the last settled job, all waiting in the database before."""
    await rig.write("UPDATE dispatcher.lanes SET paused = true")
    rig.now.value = datetime.now(UTC)
    messages = [_message(rig, names[number % NUMBERS]) for number in range(count)]
    for start in range(0, count, BATCH):
        await rig.accept(*messages[start : start + BATCH])

    async def go_and_wait() -> None:
        await rig.write("UPDATE dispatcher.lanes SET paused = false, wake_at = now()")
        await eventually(lambda: _is_empty(rig), "empty lanes", timeout_seconds=DRAIN_SECONDS_MAX)

    return await _timed(go_and_wait, count)


def _message(rig: Rig, instance: str) -> MessageAccepted:
    return rig.message(instance=instance, said=f"ours {next(_texts)}", window=86_400)


async def _is_empty(rig: Rig) -> bool:
    [row] = await rig.rows("SELECT NOT EXISTS (SELECT FROM dispatcher.jobs WHERE finished_at IS NULL) AS so")
    return bool(row.so)


async def _storm(workspace: Workspace, url: str, size: Size) -> list[Line]:
    async with _admin(workspace) as admin:
        await fill(admin, jobs=size.storm_jobs, lanes=8, policy=FAST.model_copy(update={"max_in_flight": 100}))
        storm = Storm(size.storm_jobs)
        databases = open_replicas(url, STORM_REPLICAS)
        per_second = await _timed(lambda: storm.claim(databases), size.storm_jobs)
        for database in databases:
            await database.stop()
        state = await state_of_jobs(admin)
    twice = sum(1 for times in storm.claimed.values() if times > 1)
    is_sound = twice == 0 and storm.fenced == 0 and state["attempts"] == state["sent_at_first"] == size.storm_jobs
    finding = "none twice" if is_sound else f"{twice} twice, {storm.fenced} fenced off, {state}"
    return [
        rate(BENCH, f"claims and settles of {STORM_REPLICAS} replicas on 8 lanes", per_second),
        remark(BENCH, f"{size.storm_jobs:,} jobs claimed by {STORM_REPLICAS} replicas", finding),
    ]


@contextlib.asynccontextmanager
async def _admin(workspace: Workspace) -> "AsyncIterator[asyncpg.Connection[object]]":
    connection = await asyncpg.connect(workspace.database_admin_url)
    try:
        yield connection
    finally:
        await connection.close()
