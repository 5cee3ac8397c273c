"""How many rows a relay moves per second: ours, beside a publisher without a table and beside `faststream-outbox`."""

import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tests.bench import own_outbox as own
from tests.bench import peer_outbox as peer
from tests.bench.ground import Ground, open_ground
from tests.bench.raw_publish import raw_publisher
from tests.bench.report import Line, rate, remark
from tests.bench.rounds import Round, interleaved
from tests.bench.running import run

from local_stack.workspace import Workspace

BENCH = "relay"
BODY_BYTES = 1_000
WINDOW = 200
"""As many unconfirmed publishes as our relay has: its batch."""
BAR = 0.5

Say = Callable[[Sequence[bytes]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is moved, and how often."""

    rows: int = 4_000
    rounds: int = 7


DEFAULT = Size()


def measure(workspace: Workspace, size: Size = DEFAULT) -> list[Line]:
    """Rates of all contenders; the peer only where it is installed."""
    return run(_measure(workspace, size))


async def _measure(workspace: Workspace, size: Size) -> list[Line]:
    async with open_ground(workspace) as ground, contextlib.AsyncExitStack() as stack:
        raw = await stack.enter_async_context(raw_publisher(ground, window=WINDOW))
        await own.create_table(ground)
        ours = await stack.enter_async_context(own.own_outbox(ground.database_url, ground.broker_url))
        contenders = {
            "raw": _published(ground, raw.publish, size),
            "own": _relayed(ground, ours.say, own.TABLE, size),
        }
        if peer.is_installed():
            await peer.create_table(ground)
            theirs = await stack.enter_async_context(peer.peer_outbox(ground.database_url, ground.broker_url))
            contenders["peer"] = _relayed(ground, theirs.say, peer.TABLE, size)
        for warm_up in contenders.values():
            await warm_up()
        return _lines(await interleaved(contenders, rounds=size.rounds))


def _relayed(ground: Ground, say: Say, table: str, size: Size) -> Round:
    """The time from the commit of all rows to the confirmation and deletion of the last."""

    async def once() -> float:
        await say(_bodies(size))
        started = time.perf_counter()
        await ground.until_empty(table)
        elapsed_seconds = time.perf_counter() - started
        await ground.until_heard(size.rows)
        return size.rows / elapsed_seconds

    return once


def _published(ground: Ground, publish: Say, size: Size) -> Round:
    async def once() -> float:
        bodies = _bodies(size)
        started = time.perf_counter()
        await publish(bodies)
        elapsed_seconds = time.perf_counter() - started
        await ground.until_heard(size.rows)
        return size.rows / elapsed_seconds

    return once


def _bodies(size: Size) -> Sequence[bytes]:
    return [b"x" * BODY_BYTES] * size.rows


def _lines(medians: dict[str, float]) -> list[Line]:
    raw, ours = medians["raw"], medians["own"]
    lines = [
        rate(BENCH, f"raw confirmed publish, window {WINDOW}", raw),
        rate(BENCH, "own relay, against raw", ours, reference=raw, bar=BAR),
    ]
    if "peer" not in medians:
        return [*lines, remark(BENCH, "faststream-outbox", "not installed")]
    theirs = medians["peer"]
    return [
        *lines,
        rate(BENCH, "faststream-outbox, against raw", theirs, reference=raw),
        rate(BENCH, "own relay, against faststream-outbox", ours, reference=theirs),
    ]
