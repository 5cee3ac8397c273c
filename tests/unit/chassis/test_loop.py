"""The supervised loop: it goes on while there is more, sleeps until woken, and outlives every failure."""

import asyncio
from collections.abc import Awaitable, Callable

from chassis.database import UnavailableError
from chassis.loop import Loop
from chassis.testing.waiting import eventually

LONG = 600.0


def counting(results: list[bool | Exception], calls: list[int]) -> Callable[[], Awaitable[bool]]:
    """A step that yields `results` one after the other, then False."""

    async def step() -> bool:
        calls.append(len(calls))
        result = results[len(calls) - 1] if len(calls) <= len(results) else False
        if isinstance(result, Exception):
            raise result
        return result

    return step


async def test_it_goes_on_while_there_is_more_and_then_waits_to_be_woken() -> None:
    calls: list[int] = []
    loop = Loop("test", counting([True, True, True], calls), interval_seconds=LONG)
    await loop.start()
    await eventually(lambda: len(calls) == 4, "steps while there is more")
    loop.wake()
    await eventually(lambda: len(calls) == 5, "a step after waking")
    await loop.stop()
    assert len(calls) == 5


async def test_after_a_wake_it_waits_for_company() -> None:
    calls: list[int] = []
    loop = Loop("test", counting([], calls), interval_seconds=LONG, linger_seconds=1.0)
    await loop.start()
    await eventually(lambda: len(calls) == 1, "the first step")
    for _ in range(5):
        loop.wake()
        await asyncio.sleep(0.005)
    assert len(calls) == 1
    await eventually(lambda: len(calls) == 2, "one step for all of them")
    loop.wake()
    await loop.stop()
    assert len(calls) == 2


async def test_a_wake_during_a_step_is_not_lost() -> None:
    entered, go, calls = asyncio.Event(), asyncio.Event(), []

    async def step() -> bool:
        calls.append(1)
        entered.set()
        await go.wait()
        return False

    loop = Loop("test", step, interval_seconds=LONG)
    await loop.start()
    await entered.wait()
    loop.wake()
    go.set()
    await eventually(lambda: len(calls) == 2, "another step")
    await loop.stop()


async def test_failures_of_every_kind_pause_it_and_do_not_end_it() -> None:
    calls: list[int] = []
    troubles: list[bool | Exception] = [UnavailableError("away"), ValueError("a fault in the code")]
    loop = Loop("test", counting(troubles, calls), interval_seconds=LONG, failure_pause_seconds=0.01)
    await loop.start()
    await eventually(lambda: len(calls) == 3, "steps after failures")
    await loop.stop()


async def test_a_bare_cancellation_from_a_lost_connection_does_not_end_it() -> None:
    calls: list[int] = []

    async def step() -> bool:
        calls.append(1)
        if len(calls) == 1:
            raise asyncio.CancelledError
        return False

    loop = Loop("test", step, interval_seconds=LONG, failure_pause_seconds=0.01)
    await loop.start()
    await eventually(lambda: len(calls) == 2, "a step after the cancellation")
    await loop.stop()


async def test_stop_lets_the_running_step_finish() -> None:
    entered, go, finished = asyncio.Event(), asyncio.Event(), []

    async def step() -> bool:
        entered.set()
        await go.wait()
        finished.append(True)
        return True

    loop = Loop("test", step, interval_seconds=LONG)
    await loop.start()
    await entered.wait()
    stopping = asyncio.create_task(loop.stop())
    await asyncio.sleep(0)
    assert not stopping.done()
    go.set()
    await stopping
    assert finished == [True]


async def test_a_failing_loop_stops_without_sitting_out_its_pause() -> None:
    calls: list[int] = []
    loop = Loop("test", counting([ValueError("x")], calls), interval_seconds=LONG, failure_pause_seconds=LONG)
    await loop.start()
    await eventually(lambda: bool(calls), "the failing step")
    await asyncio.wait_for(loop.stop(), timeout=5)
