"""Posts broken webhooks at a running status-ingest and finds out what they did to it.

`python -m tests.fuzz --bodies 100000 --seed 1`: the same seed posts the same bodies.
"""

import asyncio
import contextlib
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit
from uuid import uuid4

from tests.bench.edge import TOLD, WAITING, Edge, open_edge, receipt
from tests.bench.http_load import Connection, Target, connect
from tests.bench.running import run
from tests.fuzz.mutations import CONTENT_TYPES, mutated
from tests.fuzz.shapes import INSTANCES, KEYS, body

from chassis.testing.waiting import eventually
from gateways.evolution.webhook_address import own_path
from local_stack.environment import Service
from local_stack.system import System
from local_stack.workspace import Workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
CONNECTIONS = 32
LARGE_BYTES = 512 * 1024
OWN = INSTANCES[-1]
HEARD = """
SELECT (SELECT count(*) FROM status_ingest.raw_events) + (SELECT count(*) FROM status_ingest.quarantine q
        WHERE NOT EXISTS (SELECT FROM status_ingest.raw_events r WHERE r.id = q.id))
"""
QUARANTINED = "SELECT reason, count(*) AS times FROM status_ingest.quarantine GROUP BY reason ORDER BY 2 DESC"
SETTLE_SECONDS_MAX = 900.0


@dataclass(slots=True, kw_only=True)
class Report:
    """What was seen; `statuses` counts answers by what was expected and what came."""

    statuses: Counter[tuple[int, int]] = field(default_factory=Counter)
    resident_kib: list[int] = field(default_factory=list)
    """At every twentieth of the way, the last one after everything was interpreted."""
    kept: int = 0
    errors_logged: tuple[str, ...] = ()
    quarantined: Mapping[str, int] = field(default_factory=dict)
    posts_per_second: float = 0.0
    is_alive: bool = False

    @property
    def wrong(self) -> dict[tuple[int, int], int]:
        """Answers that were not the expected ones."""
        return {pair: times for pair, times in self.statuses.items() if pair[0] != pair[1]}

    @property
    def growth_kib(self) -> int:
        """Resident memory at the end against a fifth of the way, when every buffer has met its largest body."""
        return self.resident_kib[-1] - self.resident_kib[len(self.resident_kib) // 5]


def fuzz(workspace: Workspace, *, bodies: int, seed: int) -> Report:
    """Post, wait until everything is interpreted, then let a sound receipt through."""
    few = {Service.STATUS_INGEST: {"POOL_SIZE": "6"}}
    system = System(workspace=workspace, run_dir=RUN_DIR.resolve(), overrides=few)
    with contextlib.closing(system):
        return run(_fuzz(system, bodies, seed))


async def _fuzz(system: System, bodies: int, seed: int) -> Report:
    report = Report()
    async with open_edge(system) as edge:
        pid = edge.process.pid
        await edge.tell_of(KEYS[: len(KEYS) // 2])
        started = time.perf_counter()
        await _post_all(edge, system.credentials.ingest_token, bodies, seed, report)
        report.posts_per_second = bodies / (time.perf_counter() - started)
        await edge.until(WAITING, 0)
        report.resident_kib.append(_resident_kib(pid))
        report.kept = await edge.count(HEARD)
        rows = await edge.database.fetch(QUARANTINED)
        report.quarantined = {row["reason"]: row["times"] for row in rows}
        await _sound_receipt(edge)
        report.is_alive = edge.process.pid == pid and edge.process.is_running() and edge.process.is_ready()
    report.errors_logged = tuple(re.findall(r'.*"level":"(?:error|critical)".*', _log(system), re.IGNORECASE))
    return report


async def _post_all(edge: Edge, token: str, bodies: int, seed: int, report: Report) -> None:
    dice = Random(seed)
    numbers = iter(range(bodies))
    stride = max(1, bodies // 20)

    async def work() -> None:
        connection = await connect(edge.target)
        for number in numbers:
            path, headers, expected = _address(token, dice)
            content = mutated(body(dice), dice)
            try:
                answer = await connection.post(_request(edge.target, path, headers, content))
                report.statuses[expected, answer.status] += 1
            except ConnectionError:
                report.statuses[expected, 0] += 1
            if len(content) > LARGE_BYTES:  # the server closes what it did not read to the end
                connection = await _another(connection, edge.target)
            if number % stride == 0:
                report.resident_kib.append(_resident_kib(edge.process.pid))
        connection.close()

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


async def _another(connection: Connection, target: Target) -> Connection:
    connection.close()
    return await connect(target)


def _address(token: str, dice: Random) -> tuple[str, dict[str, str], int]:
    """Path, headers and the status due: 401 for a wrong credential, else 200."""
    own, shared = own_path(token, OWN), f"/webhooks/evolution/{token}"
    suffix = dice.choice(("", "", "/", "/messages-update", "//send-message", "/%ff%00/x"))
    headers = {"content-type": dice.choice(CONTENT_TYPES)}
    if dice.random() < 0.1:
        headers |= {"x-instance-name": dice.choice((OWN, "loja", "a b", "\xe9", "x" * 200))}
    if dice.random() < 0.02:
        wrong = (f"/webhooks/evolution/{OWN}/{token[:-1]}", "/webhooks/evolution", own.replace(OWN, "loja"), f"{own}x")
        return dice.choice(wrong), headers, 401
    if dice.random() < 0.1:
        return f"/webhooks/evolution{suffix}", headers | {"authorization": f"Bearer {token}"}, 200
    return f"{dice.choice((own, shared, '/' + own))}{suffix}", headers, 200


def _request(target: Target, path: str, headers: Mapping[str, str], content: bytes) -> bytes:
    given = {"host": urlsplit(target.url).netloc, "content-length": str(len(content)), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + content


async def _sound_receipt(edge: Edge) -> None:
    """A worker that is stuck would not tell it."""
    key, told = f"3EB0{uuid4().hex.upper()[:16]}", await edge.count(TOLD)
    await edge.tell_of([key])
    connection = await connect(edge.target)
    answer = await connection.post(edge.target.request(receipt(key)))
    connection.close()
    assert answer.status == 200

    async def is_told() -> bool:
        return await edge.count(TOLD) > told

    await eventually(is_told, "the sound receipt is told")


def _resident_kib(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


def _log(system: System) -> str:
    path = system.log_dir / f"{Service.STATUS_INGEST.value}.log"
    return path.read_text(errors="replace") if path.exists() else ""
