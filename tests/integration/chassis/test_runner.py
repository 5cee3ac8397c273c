"""Processes start in order, stop in reverse, never hang, and tell their supervisor how it went."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("runner_process.py")
STARTED = ["start 1", "start 2", "start 3", "start ready"]
STOPPED = ["stop ready", "stop 3", "stop 2", "stop 1"]


async def run(*troubles: str, signal_number: int | None = signal.SIGTERM) -> tuple[int | None, list[str]]:
    """Run the stages, signal the process once it is ready; its exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SCRIPT), *troubles, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    lines: list[str] = []
    async with asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode().strip():
            lines.append(line)
            if line == "start ready" and signal_number is not None:
                process.send_signal(signal_number)
        return await process.wait(), lines


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_in_reverse_and_exits_0(signal_number: int) -> None:
    assert await run("", "", "", signal_number=signal_number) == (0, STARTED + STOPPED)


async def test_what_is_in_flight_is_finished() -> None:
    code, lines = await run("", "busy", "")
    assert code == 0
    assert lines == [*STARTED, "stop ready", "stop 3", "stop 2", "finished what was in flight", "stop 1"]


@pytest.mark.parametrize("trouble", ["stop", "hang", "lost connection"])
async def test_a_stage_that_cannot_stop_keeps_nobody_else_from_stopping(trouble: str) -> None:
    assert await run("", trouble, "") == (1, STARTED + STOPPED)


async def test_a_stage_that_cannot_start_ends_the_process_and_what_was_started() -> None:
    assert await run("", "", "start") == (1, ["start 1", "start 2", "stop 2", "stop 1"])


async def test_a_fatal_fault_ends_the_process_with_1_for_its_supervisor() -> None:
    assert await run("", "fatal", "", signal_number=None) == (1, STARTED + STOPPED)
