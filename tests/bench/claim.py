"""How long a claim takes however much waits: by backlog, by lanes, by tenants, and when nothing is due at all."""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bench.claim_ground import ClaimGround, open_claim_ground
from tests.bench.report import Line
from tests.bench.rounds import quantile
from tests.bench.running import run

from local_stack.workspace import Workspace, open_workspace

BENCH = "claim"
BAR = 1 / 1.5
"""The smallest of a dimension may be at most so much quicker than each of the others."""
PICKS = 10
"""Attempts a pass, each from another lane."""
WARM_UPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits."""

    jobs: int = 100_000
    lanes: int = 10
    tenants: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What is compared within each dimension, the reference first; and how many passes are timed."""

    dimensions: Sequence[Sequence[Waiting]] = (
        (Waiting(jobs=1_000), Waiting(jobs=100_000), Waiting(jobs=1_000_000)),
        (Waiting(lanes=10), Waiting(lanes=1_000), Waiting(lanes=5_000)),
        (Waiting(tenants=1), Waiting(tenants=1_000)),
    )
    passes: int = 40


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Milliseconds of a committed pass that claims one job from each of ten lanes."""
    return run(_measure(workspace, size))


async def _measure(workspace: Workspace, size: Size) -> list[Line]:
    """A database for each, passes in turns: whatever else the machine does falls on all of them."""
    wanted = list(dict.fromkeys(one for dimension in size.dimensions for one in dimension))
    async with contextlib.AsyncExitStack() as stack:
        grounds: dict[Waiting, ClaimGround] = {}
        for waiting in wanted:
            own = stack.enter_context(open_workspace(workspace.backing, "bench"))
            grounds[waiting] = await stack.enter_async_context(open_claim_ground(own))
            await grounds[waiting].fill(jobs=waiting.jobs, lanes=waiting.lanes, tenants=waiting.tenants)
        measured = await _passes(grounds, size.passes)
        idle = await _idle(grounds[wanted[0]], size.passes)
    lines = [_line(one, measured[dimension[0]], measured[one]) for dimension in size.dimensions for one in dimension]
    return [*lines, Line(bench=BENCH, what="nothing is due", figure=_figure(idle), value=quantile(idle, 0.5))]


async def _passes(grounds: Mapping[Waiting, ClaimGround], passes: int) -> dict[Waiting, list[float]]:
    taken: dict[Waiting, list[float]] = {waiting: [] for waiting in grounds}
    for turn in range(WARM_UPS + passes):
        order = list(grounds) if turn % 2 == 0 else list(grounds)[::-1]
        for waiting in order:
            taken[waiting].append(await _pass(grounds[waiting]))
    return {waiting: values[WARM_UPS:] for waiting, values in taken.items()}


async def _pass(ground: ClaimGround) -> float:
    """Milliseconds; the lanes have room again afterwards."""
    started = time.perf_counter()
    claimed = await ground.claim(PICKS)
    taken_ms = (time.perf_counter() - started) * 1_000
    if len(claimed.attempts) != PICKS:
        raise RuntimeError(f"a pass claimed {len(claimed.attempts)} and not {PICKS}")
    await ground.settle()
    await asyncio.sleep(0.005)
    return taken_ms


async def _idle(ground: ClaimGround, passes: int) -> list[float]:
    await ground.empty()
    taken: list[float] = []
    for _ in range(passes):
        started = time.perf_counter()
        await ground.claim(PICKS)
        taken.append((time.perf_counter() - started) * 1_000)
    return taken


def _line(waiting: Waiting, reference: Sequence[float], taken: Sequence[float]) -> Line:
    median = quantile(taken, 0.5)
    what = f"{waiting.jobs:,} jobs, {waiting.lanes:,} lanes, {waiting.tenants:,} tenants"
    ratio = quantile(reference, 0.5) / median
    return Line(bench=BENCH, what=what, figure=_figure(taken), value=median, ratio=ratio, bar=round(BAR, 2))


def _figure(taken: Sequence[float]) -> str:
    return f"p50 {quantile(taken, 0.5):.1f} ms, p99 {quantile(taken, 0.99):.1f} ms"
