"""Runs a service: stages start in order, stop in reverse, every one bounded, until a signal or a fatal fault."""

import asyncio
import gc
import signal
import time
from collections.abc import Sequence
from typing import Protocol

from chassis.telemetry.logs import get_logger, log_loop_trouble

logger = get_logger(__name__)

START_TIMEOUT_SECONDS = 30.0


class Stage(Protocol):
    """Something with a beginning and an end."""

    @property
    def name(self) -> str:
        """For the log."""
        ...

    async def start(self) -> None:
        """Be ready, or be getting ready in the background."""
        ...

    async def stop(self) -> None:
        """Finish what is in flight and let go of everything."""
        ...


class Runner:
    """The life of one process. `fail` ends it with exit code 1, so that its supervisor starts it anew."""

    def __init__(self, *, stop_timeout_seconds: float = 20.0) -> None:
        self._stop_timeout = stop_timeout_seconds
        self._ended = asyncio.Event()
        self._exit_code = 0

    def fail(self, reason: str) -> None:
        """Something cannot recover in this process."""
        logger.error("service_failed", reason=reason)
        self._exit_code = 1
        self._ended.set()

    async def run(self, stages: Sequence[Stage]) -> int:
        """Start, wait, stop; the process's exit code."""
        self._take_over_loop()
        started: list[Stage] = []
        try:
            for stage in stages:
                async with asyncio.timeout(START_TIMEOUT_SECONDS):
                    await stage.start()
                started.append(stage)
            _keep_out_of_collection()
            logger.info("service_started")
            await self._ended.wait()
        except (Exception, asyncio.CancelledError):
            logger.exception("service_start_failed")
            self._exit_code = 1
        for stage in reversed(started):
            await self._stop(stage)
        logger.info("service_stopped", code=self._exit_code)
        return self._exit_code

    def _take_over_loop(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(log_loop_trouble)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)

    async def _stop(self, stage: Stage) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._stop_timeout):
                await stage.stop()
        except (Exception, asyncio.CancelledError):  # a lost broker connection cancels whoever waits for it
            logger.exception("stage_stop_failed", stage=stage.name)
            self._exit_code = self._exit_code or 1
        logger.debug("stage_stopped", stage=stage.name, duration_ms=round((time.monotonic() - began) * 1_000))


def _keep_out_of_collection() -> None:
    """What exists by now lives as long as the process; walking it again would cost every collection, and the exit."""
    gc.collect()
    gc.freeze()
