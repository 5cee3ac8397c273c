"""A dispatcher is killed at every single suspension of a message's life: none is lost, none is sent twice."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.dispatcher.process import World
from tests.integration.dispatcher.rig import FAST, Rig
from tests.reliability.crash_steps import Side
from tests.reliability.processes import lost_leases, settled, violations

from chassis.testing.waiting import eventually
from contracts.facts import MessageAccepted
from contracts.values import Pace

TYPING = Pace(min_ms=20, max_ms=20)
LANES = 4
POLICY = FAST.model_copy(update={"utility": TYPING, "max_in_flight": 100})
"""Room for all that lives leave in flight."""
SET_ASIDE = """
    UPDATE dispatcher.jobs SET state = 'SCHEDULED', due_at = now() + interval '1 hour' WHERE state = 'READY'
"""
SHORTER_BY = 6
SETTLE_SECONDS = 90.0
REPORT_SECONDS_MAX = 30.0


class CrashServer:
    """Lives of one message each, in processes that die when told to."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._process: asyncio.subprocess.Process

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.reliability.crash_server",
            cwd=Path(__file__).parents[2],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )

    async def live(self, accepted: MessageAccepted, *, at: int, side: Side) -> dict[str, Any]:
        """How the life ended that was to end at that step; step 0 is never reached."""
        order = {"database_url": self._database_url, "accepted": accepted.body().decode(), "at": at, "side": side}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        async with asyncio.timeout(REPORT_SECONDS_MAX):
            report: dict[str, Any] = json.loads(await self._process.stdout.readline())
        assert report["killed"] or report["clean"], report
        return report

    async def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(REPORT_SECONDS_MAX):
            await self._process.wait()


@pytest.fixture
async def server(rig: Rig) -> AsyncIterator[CrashServer]:
    opened = CrashServer(rig.url)
    await opened.start()
    yield opened
    await opened.stop()


async def lanes_open(rig: Rig) -> bool:
    [row] = await rig.rows("SELECT count(*) AS lanes FROM dispatcher.lanes WHERE state = 'OPEN'")
    return bool(row.lanes == LANES)


async def test_killed_at_every_step_no_message_is_lost_or_sent_twice(
    world: World, rig: Rig, server: CrashServer
) -> None:
    """Each life ends at another step; what it leaves behind is set aside, so that the next one lives as it did."""
    for lane in range(LANES):
        await world.number(f"lane-{lane}", pacing=POLICY)
    await eventually(lambda: lanes_open(rig), "open lanes", timeout_seconds=60)
    await world.dispatcher.signal(signal.SIGTERM, timeout_seconds=60)
    whole = rig.message(instance="lane-0", said="whole")
    promised, redelivered, killed = {whole.ref.message_id: "whole"}, [], 0
    report = await server.live(whole, at=0, side=Side.SUSPENDED)
    assert report["clean"]
    assert report["acked"]
    points = [(step, side) for step in range(1, report["steps"] + 1) for side in Side]
    for step, side in points:
        accepted = rig.message(instance=f"lane-{step % LANES}", said=f"{side} {step}")
        promised[accepted.ref.message_id] = f"{side} {step}"
        report = await server.live(accepted, at=step, side=side)
        killed += report["killed"]
        if not report["acked"]:
            redelivered.append(accepted)
        await rig.write(SET_ASIDE)
    assert killed >= len(points) - SHORTER_BY, "lives differ by a step or two, not by more"
    assert 0 < len(redelivered) < len(points)
    await settle(world, rig, promised, redelivered)
    assert await lost_leases(rig) > len(points) // 4, "hardly any life ended between its claim and its settling"


async def settle(world: World, rig: Rig, promised: dict[Any, str], redelivered: list[MessageAccepted]) -> None:
    """A dispatcher that nobody disturbs, on lanes that go on with other messages, ends everything."""
    await rig.write("UPDATE dispatcher.jobs SET due_at = now() WHERE state = 'SCHEDULED'")
    await world.dispatcher.start()
    await world.dispatcher.wait_ready(60)
    next_ones = [rig.message(instance=f"lane-{lane}", said=f"next {lane}") for lane in range(LANES)]
    promised |= {one.ref.message_id: f"next {lane}" for lane, one in enumerate(next_ones)}
    await world.say(*redelivered, *next_ones)
    await settled(rig, len(promised), within_seconds=SETTLE_SECONDS)
    assert await violations(world, rig, promised) == []
    assert len(await world.ledger()) == len(promised), "each was sent once, flagged or not"
