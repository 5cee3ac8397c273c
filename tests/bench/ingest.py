"""What keeping a webhook costs beside a bare durable INSERT, and whether receipts keep up with three dispatchers."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.accept import open_bare
from tests.bench.dispatch import drained_per_second
from tests.bench.edge import TOLD, WAITING, Edge, open_edge
from tests.bench.http_load import Answer, Target, load, load_at
from tests.bench.processor import cpu_seconds_of
from tests.bench.report import Line, latency, rate
from tests.bench.rounds import Round, interleaved, quantile
from tests.bench.running import run

from local_stack.system import System
from local_stack.workspace import Workspace

BENCH = "ingest"
RUN_DIR = Path(__file__).parents[2] / ".run"
CONNECTIONS, AT_PACE = 32, 64
BAR, BAR_OF_DISPATCH, BAR_P99_MS = 1.0, 3.0, 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Posts a round, rounds, seconds at the fixed rate, and messages of the dispatcher that sets the pace."""

    posts: int = 3_000
    rounds: int = 5
    paced_seconds: float = 10.0
    dispatched: int = 600


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """First how fast one dispatcher sends here; then the edge, alone and beside the bare route."""
    return keep_up(workspace, drained_per_second(workspace, messages=size.dispatched), size)


def keep_up(workspace: Workspace, dispatched: float, size: Size) -> list[Line]:
    """The same for a dispatcher that sends so many a second."""
    system = System(workspace=workspace, run_dir=RUN_DIR.resolve())
    with contextlib.closing(system), open_bare(workspace, "/events") as bare:
        return run(_measure(system, bare, size, dispatched))


async def _measure(system: System, bare: Target, size: Size, dispatched: float) -> list[Line]:
    async with open_edge(system) as edge:
        answers: dict[str, list[Answer]] = {"own": [], "bare": []}
        contenders = {
            "bare": _round(edge, bare, size, answers["bare"]),
            "own": _round(edge, edge.target, size, answers["own"]),
        }
        for warm_up in contenders.values():
            await warm_up()
        for kept in answers.values():
            kept.clear()
        medians = await interleaved(contenders, rounds=size.rounds)
        sustained, cpu_ms = await _sustained(edge, size)
        pace = BAR_OF_DISPATCH * dispatched
        posts = max(10, int(pace * size.paced_seconds))
        bare_paced = await load_at(bare, edge.bodies(posts), per_second=pace, connections=AT_PACE, expect=200)
        paced = await _paced(edge, await edge.known_bodies(posts), pace)
    what = f"receipts posted to told, {CONNECTIONS} connections"
    return [
        rate(BENCH, f"bare route, one INSERT, {CONNECTIONS} connections", medians["bare"]),
        rate(BENCH, "webhook, against the bare route", medians["own"], reference=medians["bare"], bar=BAR),
        _latency("bare route, as fast as it goes", answers["bare"]),
        _latency("webhook, as fast as it goes", answers["own"]),
        rate(BENCH, "dispatcher, pacing off", dispatched),
        rate(BENCH, f"{what}, against the dispatcher", sustained, reference=dispatched, bar=BAR_OF_DISPATCH),
        _latency(f"bare route at {pace:,.0f}/s", bare_paced),
        _latency(f"webhook at {pace:,.0f}/s, p99 against 50 ms", paced, is_judged=True),
        Line(bench=BENCH, what="processor time of one receipt in status_ingest", figure=f"{cpu_ms:.2f} ms"),
    ]


def _round(edge: Edge, target: Target, size: Size, kept: list[Answer]) -> Round:
    """Posts a second; what interpretation still has to do afterwards burdens nobody's round."""

    async def once() -> float:
        bodies = edge.bodies(size.posts)
        started = time.perf_counter()
        answers = await load(target, bodies, connections=CONNECTIONS, expect=200)
        elapsed_seconds = time.perf_counter() - started
        await edge.until(WAITING, 0)
        kept.extend(answers)
        return size.posts / elapsed_seconds

    return once


async def _sustained(edge: Edge, size: Size) -> tuple[float, float]:
    """Receipts a second from the first post to the last `receipt.recorded`; processor milliseconds of each."""
    bodies = await edge.known_bodies(size.posts)
    told, spent = await edge.count(TOLD), cpu_seconds_of(edge.process.pid)
    started = time.perf_counter()
    await load(edge.target, bodies, connections=CONNECTIONS, expect=200)
    await edge.until(TOLD, told + size.posts)
    elapsed_seconds = time.perf_counter() - started
    return size.posts / elapsed_seconds, (cpu_seconds_of(edge.process.pid) - spent) / size.posts * 1_000


async def _paced(edge: Edge, bodies: Sequence[Mapping[str, Any]], per_second: float) -> list[Answer]:
    """Answers at a rate that the dispatcher sets; all of it is told in the end."""
    told = await edge.count(TOLD)
    answers = await load_at(edge.target, bodies, per_second=per_second, connections=AT_PACE, expect=200)
    await edge.until(TOLD, told + len(bodies))
    return answers


def _latency(what: str, answers: Sequence[Answer], *, is_judged: bool = False) -> Line:
    values = [answer.latency_ms for answer in answers]
    p50_ms, p99_ms = quantile(values, 0.5), quantile(values, 0.99)
    line = latency(BENCH, what, p50_ms=p50_ms, p99_ms=p99_ms)
    if not is_judged:
        return line
    return Line(bench=BENCH, what=what, figure=line.figure, value=p50_ms, ratio=BAR_P99_MS / p99_ms, bar=1.0)
