"""What accepting a message costs beside the least that a durable answer can cost: one INSERT in a bare route."""

import contextlib
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
from tests.bench.bare_route import TABLE
from tests.bench.http_load import Answer, Target, load
from tests.bench.report import Line, latency, rate
from tests.bench.rounds import Round, interleaved, quantile
from tests.bench.running import run

from local_stack.blocking import run_blocking
from local_stack.environment import Service
from local_stack.operator_api import Account, Operator
from local_stack.ports import free_port
from local_stack.services import ServiceProcess
from local_stack.settings import inherited_environment
from local_stack.system import System
from local_stack.workspace import Workspace

BENCH = "accept"
CONNECTIONS = 32
BAR = 1.0
BATCH_ITEMS = 100
BATCH_CONNECTIONS = 4
BATCH_BAR = 5.0
RUN_DIR = Path(__file__).parents[2] / ".run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many messages a round has, and how often."""

    requests: int = 3_000
    rounds: int = 7


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Rates and latencies of an api process, alone with its servers, and of the bare route."""
    with _api(workspace) as ours:
        return compare(workspace, ours, size)


def compare(workspace: Workspace, ours: Target, size: Size) -> list[Line]:
    """The same for an api that runs already."""
    with open_bare(workspace) as bare:
        return run(_measure(ours, bare, size))


def target_of(system: System, account: Account) -> Target:
    """Where and as whom to send."""
    return Target(url=f"{system.api_url}/v1/messages/send", headers={"x-api-key": account.api_key})


async def _measure(ours: Target, bare: Target, size: Size) -> list[Line]:
    answers: dict[str, list[Answer]] = {"own": [], "bare": []}
    contenders = {
        "bare": _round(bare, size, answers["bare"]),
        "own": _round(ours, size, answers["own"]),
        "batch": _batch_round(replace(ours, url=ours.url.replace("/send", "/batch")), size),
    }
    for warm_up in contenders.values():
        await warm_up()
    for kept in answers.values():
        kept.clear()
    medians = await interleaved(contenders, rounds=size.rounds)
    return [
        rate(BENCH, f"bare route, one INSERT, {CONNECTIONS} connections", medians["bare"]),
        rate(
            BENCH, "POST /v1/messages/send, against the bare route", medians["own"], reference=medians["bare"], bar=BAR
        ),
        rate(
            BENCH,
            f"POST /v1/messages/batch of {BATCH_ITEMS}, messages against single ones",
            medians["batch"],
            reference=medians["own"],
            bar=BATCH_BAR,
        ),
        _latency("bare route", answers["bare"]),
        _latency("POST /v1/messages/send", answers["own"]),
    ]


def _round(target: Target, size: Size, kept: list[Answer]) -> Round:
    numbers = itertools.count(5_547_991_000_000)

    async def once() -> float:
        bodies = [{"destinationNumber": f"+{next(numbers)}", "text": "a text " * 8} for _ in range(size.requests)]
        started = time.perf_counter()
        answers = await load(target, bodies, connections=CONNECTIONS, expect=202)
        elapsed_seconds = time.perf_counter() - started
        kept.extend(answers)
        return size.requests / elapsed_seconds

    return once


def _batch_round(target: Target, size: Size) -> Round:
    """Messages a second when they come in batches, each of which must be accepted as a whole."""
    numbers = itertools.count(5_547_992_000_000)

    async def once() -> float:
        items = [{"destinationNumber": f"+{next(numbers)}", "text": "a text " * 8} for _ in range(size.requests)]
        starts = range(0, len(items), BATCH_ITEMS)
        bodies = [{"messages": items[start : start + BATCH_ITEMS]} for start in starts]
        started = time.perf_counter()
        answers = await load(target, bodies, connections=BATCH_CONNECTIONS, expect=200)
        elapsed_seconds = time.perf_counter() - started
        accepted = sum(json.loads(answer.body)["accepted"] for answer in answers)
        if accepted != size.requests:
            raise RuntimeError(f"{accepted} of {size.requests} were accepted")
        return size.requests / elapsed_seconds

    return once


def _latency(what: str, answers: list[Answer]) -> Line:
    values = [answer.latency_ms for answer in answers]
    return latency(BENCH, what, p50_ms=quantile(values, 0.5), p99_ms=quantile(values, 0.99))


@contextlib.contextmanager
def _api(workspace: Workspace) -> Iterator[Target]:
    """Only the api runs; the others helped to open the account and are gone."""
    system = System(workspace=workspace, run_dir=RUN_DIR.resolve())
    helpers = [system.gateway, *(system.services[name] for name in (Service.STATUS_INGEST, Service.DISPATCHER))]
    with contextlib.closing(system):
        system.migrate()
        for process in [*helpers, system.services[Service.API]]:
            process.start()
        with Operator(system) as operator:
            account = operator.open_account(instance="bench", templates={})
        for process in helpers:
            process.stop()
        yield target_of(system, account)


@contextlib.contextmanager
def open_bare(workspace: Workspace, path: str = "/messages") -> Iterator[Target]:
    """The bare route as a process."""
    run_blocking(_create_table(workspace.database_admin_url))
    port = free_port()
    process = ServiceProcess(
        name="bare-route",
        argv=[sys.executable, "-m", "tests.bench.bare_route", workspace.database_admin_url, str(port)],
        env=inherited_environment() | {"PYTHONPATH": str(RUN_DIR.parent)},
        log_path=RUN_DIR / "logs" / workspace.name / "bare-route.log",
        ready_url=f"http://127.0.0.1:{port}/ready",
    )
    try:
        process.start()
        yield Target(url=f"http://127.0.0.1:{port}{path}", headers={})
    finally:
        process.stop()


async def _create_table(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(TABLE)
    await connection.close()
