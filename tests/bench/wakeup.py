"""How soon a committed row comes out of the broker when the relay was idle: said beside it, elsewhere, by the peer."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from aio_pika.abc import AbstractIncomingMessage
from tests.bench import own_outbox as own
from tests.bench import peer_outbox as peer
from tests.bench.ground import Ground, open_ground
from tests.bench.report import Line, latency, remark
from tests.bench.rounds import quantile
from tests.bench.running import run

from local_stack.workspace import Workspace

BENCH = "wake-up"
ARRIVE_SECONDS_MAX = 30.0

Say = Callable[[Sequence[bytes]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many rows, one after the other, with a pause in which the relay falls asleep."""

    rows: int = 100
    pause_seconds: float = 0.05


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Latencies from the commit to the delivery, which a quorum queue makes when it confirms."""
    return run(_measure(workspace, size))


async def _measure(workspace: Workspace, size: Size) -> list[Line]:
    async with open_ground(workspace) as ground, contextlib.AsyncExitStack() as stack:
        await own.create_table(ground)
        ours = await stack.enter_async_context(own.own_outbox(ground.database_url, ground.broker_url))
        sayers: dict[str, Say] = {
            "own, said in the relay's process": partial(ours.say, near=True),
            "own, said elsewhere (NOTIFY)": ours.say,
        }
        if peer.is_installed():
            await peer.create_table(ground)
            theirs = await stack.enter_async_context(peer.peer_outbox(ground.database_url, ground.broker_url))
            sayers["faststream-outbox (NOTIFY)"] = theirs.say
        measured = await _interleaved(ground, sayers, size)
    lines = [
        latency(BENCH, what, p50_ms=quantile(values, 0.5), p99_ms=quantile(values, 0.99))
        for what, values in measured.items()
    ]
    return lines if peer.is_installed() else [*lines, remark(BENCH, "faststream-outbox", "not installed")]


async def _interleaved(ground: Ground, sayers: dict[str, Say], size: Size) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = {what: [] for what in sayers}
    async with _arrivals(ground) as arrivals:
        for say in sayers.values():
            await _one(say, arrivals)
        for _ in range(size.rows):
            for what, say in sayers.items():
                await asyncio.sleep(size.pause_seconds)
                measured[what].append(await _one(say, arrivals))
    return measured


async def _one(say: Say, arrivals: "asyncio.Queue[float]") -> float:
    """Milliseconds; a row that comes out before the commit is known here took none."""
    await say([b"x" * 1_000])
    committed = time.perf_counter()
    async with asyncio.timeout(ARRIVE_SECONDS_MAX):
        return max(0.0, await arrivals.get() - committed) * 1_000


@contextlib.asynccontextmanager
async def _arrivals(ground: Ground) -> "AsyncIterator[asyncio.Queue[float]]":
    arrivals: asyncio.Queue[float] = asyncio.Queue()

    async def note(_: AbstractIncomingMessage) -> None:
        arrivals.put_nowait(time.perf_counter())

    tag = await ground.queue.consume(note, no_ack=True)
    yield arrivals
    await ground.queue.cancel(tag)
