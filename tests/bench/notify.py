"""Webhooks: how fast they go out beside a bare loop of posts, and what others' broken endpoints do to a tenant."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
from tests.bench.hook_sink import DRIPPING, HANGING, QUICK, open_hook_sink
from tests.bench.report import Line, latency, rate
from tests.bench.rounds import interleaved, quantile
from tests.bench.running import run
from tests.integration.notifier.rig import Builder, Rig, Schema

import notifier
from chassis.migrations import Migrations
from chassis.provisioning import provision
from chassis.testing.waiting import eventually
from local_stack.ports import free_port
from local_stack.workspace import Workspace
from notifier.domain.delivery import Evidence
from notifier.settings import PAUSES_SECONDS
from notifier.tables import metadata
from notifier.usecases.deliver_webhook import Poster

BENCH = "notify"
SCHEMA, PASSWORD = "notifier", "bench"
BAR, UNCHANGED = 0.5, 1 / 1.5
ENDPOINTS, CALLS_PER_ENDPOINT = 10, 10
CALLS_AT_ONCE = ENDPOINTS * CALLS_PER_ENDPOINT
BATCH = 500
DRAIN_SECONDS_MAX = 240.0
CALL_SECONDS = 10.0
NEWS_SECONDS_MAX = 60.0
WARM_UPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Deliveries a round, rounds of each contender; backlog of each broken endpoint, news timed a round beside them."""

    deliveries: int = 1_000
    rounds: int = 3
    backlog: int = 5_000
    timed: int = 150


DEFAULT = Size()


class Telling:
    """A poster that tells when a quick endpoint has answered."""

    def __init__(self, poster: Poster) -> None:
        self._poster, self.came = poster, asyncio.Event()

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Evidence:
        evidence = await self._poster.post(url, headers=headers, body=body)
        if QUICK in url:
            self.came.set()
        return evidence


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """One replica in this process; the customers' servers are another."""
    return run(_measure(workspace, size))


async def _measure(workspace: Workspace, size: Size) -> list[Line]:
    async with contextlib.AsyncExitStack() as stack:
        build = await _builder(workspace, stack)
        sink = await stack.enter_async_context(open_hook_sink())
        swift = await build(pauses=PAUSES_SECONDS, per_endpoint=CALLS_PER_ENDPOINT, timeout_seconds=CALL_SECONDS)
        lines = await _throughput(swift, sink, size)
        await swift.rows("DELETE FROM notifier.endpoints RETURNING 1")
        beside = await build(pauses=PAUSES_SECONDS, per_tenant=50, timeout_seconds=CALL_SECONDS)
        return [*lines, *await _isolation(beside, sink, size)]


async def _builder(workspace: Workspace, stack: contextlib.AsyncExitStack) -> Builder:
    url = workspace.database_url(SCHEMA, PASSWORD)
    await provision(workspace.database_admin_url, database_url=url, schema=SCHEMA)
    await Migrations(metadata=metadata, package=Path(str(notifier.__file__)).parent).upgrade(url)
    return Builder(schema=Schema(url=url, admin_url=workspace.database_admin_url), stack=stack)


async def _throughput(rig: Rig, sink: str, size: Size) -> list[Line]:
    for number in range(ENDPOINTS):
        await rig.endpoint(f"{sink}/{QUICK}/{number}")
    cpu: dict[str, list[float]] = {"ours": [], "bare": [], "unpooled": []}

    async def timed(name: str) -> float:
        async with _prepared(rig, size.deliveries if name == "ours" else 0):
            started, cpu_started = time.perf_counter(), time.process_time()
            if name == "ours":
                await _drain(rig)
            else:
                await _post_all(sink, size.deliveries, pooled=name == "bare")
            cpu[name].append((time.process_time() - cpu_started) / size.deliveries * 1_000)
            return size.deliveries / (time.perf_counter() - started)

    figures = await interleaved({name: lambda name=name: timed(name) for name in cpu}, rounds=size.rounds)  # type: ignore[misc]
    cost = {name: quantile(values, 0.5) for name, values in cpu.items()}
    what = f"notifier, {size.deliveries} waiting, {CALLS_AT_ONCE} at once"
    return [
        rate(BENCH, f"bare post loop, {CALLS_AT_ONCE} at once", figures["bare"]),
        rate(BENCH, f"{what}, beside it", figures["ours"], reference=figures["bare"]),
        rate(BENCH, "bare post loop, a connection for each as we have", figures["unpooled"]),
        rate(BENCH, f"{what}, beside that", figures["ours"], reference=figures["unpooled"], bar=BAR),
        Line(
            bench=BENCH,
            what="CPU a delivery, beside the loop with a connection for each",
            figure=f"{cost['ours']:.2f} ms, loop {cost['unpooled']:.2f} ms",
            value=cost["ours"],
            ratio=cost["unpooled"] / cost["ours"],
        ),
    ]


@contextlib.asynccontextmanager
async def _prepared(rig: Rig, count: int) -> AsyncIterator[None]:
    """So many deliveries, evenly over the endpoints, wait in the database for their endpoints to be switched on."""
    await rig.rows("UPDATE notifier.endpoints SET active = false RETURNING 1")
    for start in range(0, count // ENDPOINTS, BATCH):
        await rig.hear(*(rig.fact() for _ in range(min(BATCH, count // ENDPOINTS - start))))
    yield
    await rig.rows("DELETE FROM notifier.deliveries RETURNING 1")


async def _drain(rig: Rig) -> None:
    await rig.rows("UPDATE notifier.endpoints SET active = true RETURNING 1")
    sending = await rig.run(calls_max=200)
    await eventually(lambda: _is_done(rig), "all delivered", timeout_seconds=DRAIN_SECONDS_MAX)
    await sending.stop()


async def _is_done(rig: Rig) -> bool:
    [row] = await rig.rows("SELECT NOT EXISTS (SELECT FROM notifier.deliveries WHERE state <> 'DELIVERED') AS so")
    return bool(row.so)


async def _post_all(sink: str, count: int, *, pooled: bool) -> None:
    limits = httpx.Limits(max_connections=CALLS_AT_ONCE, max_keepalive_connections=None if pooled else 0)
    numbers = iter(range(count))
    async with httpx.AsyncClient(trust_env=False, limits=limits, timeout=60) as http:

        async def work() -> None:
            for number in numbers:
                answer = await http.post(f"{sink}/{QUICK}/{number % ENDPOINTS}", json={"event": "message.read"})
                answer.raise_for_status()

        await asyncio.gather(*(work() for _ in range(CALLS_AT_ONCE)))


async def _isolation(rig: Rig, sink: str, size: Size) -> list[Line]:
    telling = Telling(rig.deliver.poster)
    rig.deliver = replace(rig.deliver, poster=telling)
    await rig.endpoint(f"{sink}/{QUICK}")
    broken = [
        await _broken(rig, url, size.backlog)
        for url in (f"http://127.0.0.1:{free_port()}/dead", f"{sink}/{HANGING}", f"{sink}/{DRIPPING}")
    ]
    await rig.rows("UPDATE notifier.endpoints SET active = false WHERE tenant_id <> :id RETURNING 1", id=rig.tenant_id)
    sending = await rig.run(calls_max=200)
    await _timed(rig, telling, WARM_UPS)
    taken: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * size.rounds):
        troubled = turn % 2 == 1
        await _trouble(rig, broken, on=troubled)
        taken[troubled] += await _timed(rig, telling, size.timed)
    tried = (await rig.rows("SELECT count(*) AS n FROM notifier.delivery_attempts WHERE problem IS NOT NULL"))[0].n
    await sending.stop()
    alone, beside = (quantile(taken[which], 0.99) for which in (False, True))
    halves = {which: quantile(values, 0.5) for which, values in taken.items()}
    return [
        latency(BENCH, "news to 2xx, alone", p50_ms=halves[False], p99_ms=alone),
        latency(
            BENCH,
            f"the same beside a dead, a hanging, a dripping one, {size.backlog:,} each",
            p50_ms=halves[True],
            p99_ms=beside,
        ),
        Line(
            bench=BENCH,
            what="its p99, alone to beside them",
            figure=f"{tried:,} attempts at them",
            value=alone,
            ratio=alone / beside,
            bar=round(UNCHANGED, 2),
        ),
    ]


async def _broken(rig: Rig, url: str, backlog: int) -> UUID:
    """An endpoint of another tenant that is owed much."""
    owner: dict[str, Any] = {"tenant_id": uuid4(), "number_id": uuid4()}
    endpoint_id, _ = await rig.endpoint(url, **owner)
    for start in range(0, backlog, BATCH):
        await rig.hear(*(rig.fact(**owner) for _ in range(min(BATCH, backlog - start))))
    return endpoint_id


async def _trouble(rig: Rig, broken: Sequence[UUID], *, on: bool) -> None:
    """Their endpoints are on, as if they had never failed and all were due; or off."""
    await rig.rows(
        "UPDATE notifier.endpoints SET active = :on, failures = 0 WHERE endpoint_id = ANY(:ids) RETURNING 1",
        on=on,
        ids=list(broken),
    )
    if on:
        await rig.rows(
            "UPDATE notifier.deliveries SET due_at = now() WHERE state = 'PENDING' AND due_at > now() RETURNING 1"
        )


async def _timed(rig: Rig, telling: Telling, count: int) -> list[float]:
    """Milliseconds from a change of status that is heard to the customer's 2xx, one after the other."""
    return [await _one(rig, telling) for _ in range(count)]


async def _one(rig: Rig, telling: Telling) -> float:
    telling.came.clear()
    started = time.perf_counter()
    await rig.hear(rig.fact())
    for sending in rig.tasks:
        sending.wake()
    async with asyncio.timeout(NEWS_SECONDS_MAX):
        await telling.came.wait()
    return (time.perf_counter() - started) * 1_000
