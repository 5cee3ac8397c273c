"""What becomes of rows when nobody listens, and how long they wait when a relay is killed while it holds them."""

import asyncio
import sys
import time
from pathlib import Path

from tests.bench import own_outbox as own
from tests.bench import peer_outbox as peer
from tests.bench.crash_child import LEASE_SECONDS, TUNING
from tests.bench.ground import NOWHERE, Ground, open_ground
from tests.bench.report import Line, remark
from tests.bench.running import run

from chassis.testing.waiting import eventually
from chassis.testing.wire import Wire
from local_stack.workspace import Workspace

BENCH = "faults"
ROOT = Path(__file__).parents[2]
HELD = {
    own.TABLE: f"SELECT NOT EXISTS (SELECT FROM {own.TABLE} FOR UPDATE SKIP LOCKED)",
    peer.TABLE: f"SELECT EXISTS (SELECT FROM {peer.TABLE} WHERE acquired_token IS NOT NULL)",
}
"""Whether a relay holds the row: by a lock, by a lease."""
TRIED = {
    own.TABLE: f"SELECT NOT EXISTS (SELECT FROM {own.TABLE} WHERE attempts = 0)",
    peer.TABLE: f"SELECT NOT EXISTS (SELECT FROM {peer.TABLE} WHERE attempts_count = 0)",
}
TABLES = {"own": own.TABLE, "peer": peer.TABLE}
BODY = b"x" * 1_000


def measure(workspace: Workspace) -> list[Line]:
    """Findings about ours and, where it is installed, about the peer."""
    return run(_measure(workspace))


async def _measure(workspace: Workspace) -> list[Line]:
    async with open_ground(workspace) as ground:
        await own.create_table(ground)
        lines = [
            remark(BENCH, "own, nobody listens", await _own_unheard(ground)),
            remark(BENCH, "own, killed while it holds a row", await _own_crash(ground)),
        ]
        if not peer.is_installed():
            return [*lines, remark(BENCH, "faststream-outbox", "not installed")]
        await peer.create_table(ground)
        quiet = await _peer_unheard(ground, on_return_raises=False)
        loud = await _peer_unheard(ground, on_return_raises=True)
        return [
            *lines,
            remark(BENCH, "faststream-outbox, nobody listens, channel as it comes", quiet),
            remark(BENCH, "faststream-outbox, nobody listens, on_return_raises", loud),
            remark(BENCH, "faststream-outbox, killed while it holds a row", await _peer_crash(ground)),
        ]


async def _own_unheard(ground: Ground) -> str:
    async with own.own_outbox(ground.database_url, ground.broker_url) as ours:
        await ours.say([BODY], key=NOWHERE)
        return await _fate(ground, own.TABLE)


async def _peer_unheard(ground: Ground, *, on_return_raises: bool) -> str:
    tuning = peer.PeerTuning(max_workers=2, on_return_raises=on_return_raises)
    async with peer.peer_outbox(ground.database_url, ground.broker_url, tuning) as theirs:
        await theirs.say([BODY], queue=peer.UNROUTABLE)
        return await _fate(ground, peer.TABLE)


async def _fate(ground: Ground, table: str) -> str:
    """Kept or lost, once the relay has tried; the table is empty afterwards."""
    await eventually(lambda: ground.is_so(TRIED[table]), "an attempt or a deletion")
    kept = await ground.database.fetchval(f"SELECT count(*) FROM {table}")
    await ground.database.execute(f"DELETE FROM {table}")
    return "kept, tried again later" if kept else "deleted as if it had been delivered: lost"


async def _own_crash(ground: Ground) -> str:
    await _killed_while_it_holds_a_row(ground, "own")
    started = time.perf_counter()
    async with own.own_outbox(ground.database_url, ground.broker_url):
        return await _recovery(ground, own.TABLE, started)


async def _peer_crash(ground: Ground) -> str:
    await _killed_while_it_holds_a_row(ground, "peer")
    started = time.perf_counter()
    async with peer.peer_outbox(ground.database_url, ground.broker_url, TUNING):
        recovered = await _recovery(ground, peer.TABLE, started)
    return f"{recovered}, with a lease of {LEASE_SECONDS:g} s (default 60 s)"


async def _killed_while_it_holds_a_row(ground: Ground, which: str) -> None:
    """The broker falls silent on a relay process that has shown that it works; then the process is killed."""
    async with Wire(ground.broker_url, default_port=5672) as wire:
        module = ("-m", "tests.bench.crash_child", which, ground.database_url, wire.url)
        relay = await asyncio.create_subprocess_exec(sys.executable, *module, cwd=ROOT)
        try:
            await _say(ground, which)
            await ground.until_empty(TABLES[which])
            wire.mute()
            await _say(ground, which)
            await eventually(lambda: ground.is_so(HELD[TABLES[which]]), "the row held by the relay")
        finally:
            relay.kill()
            await relay.wait()


async def _say(ground: Ground, which: str) -> None:
    if which == "own":
        await own.say_once(ground.database_url, BODY)
    else:
        await peer.say_once(ground.database_url, BODY)


async def _recovery(ground: Ground, table: str, started: float) -> str:
    await ground.until_empty(table)
    return f"delivered by another {time.perf_counter() - started:.1f} s after the kill"
