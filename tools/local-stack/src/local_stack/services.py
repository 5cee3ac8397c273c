"""Runs one service as a process that can be waited for, paused, killed and restarted on the same port."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from local_stack.instances import Instance
from local_stack.processes import Child, Command
from local_stack.waiting import wait_until

_READY_SECONDS = 60.0
_STOP_SECONDS = 30.0
_ASK_SECONDS = 3.0


class ServiceDidNotStart(RuntimeError):
    """Raised when a service ended before it was ready; carries the end of its log."""


@dataclass(slots=True, kw_only=True)
class ServiceProcess:
    """`ready_url` answers 200 once the service may be sent work. All methods block; none needs an event loop."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    log_path: Path
    ready_url: str
    instance: Instance | None = field(default=None, repr=False)
    _child: Child | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        return self._running().pid

    def start(self, *, wait: bool = True) -> None:
        """Start the process and, unless told otherwise, wait until it is ready."""
        command = Command(name=self.name, argv=self.argv, environment=self.env, log_path=self.log_path)
        if self._child is None:
            self._child = Child(command, self.instance)
        self._child.start()
        if wait:
            self.wait_ready()

    def wait_ready(self, *, timeout_seconds: float = _READY_SECONDS) -> None:
        """Return when the service says that it is ready; raise with its last log lines when it ends instead."""
        child = self._running()
        wait_until(
            lambda: not child.is_running() or self.is_ready(),
            what=f"{self.name} ready",
            timeout_seconds=timeout_seconds,
        )
        if not child.is_running():
            raise ServiceDidNotStart(f"{self.name} ended with {child.exit_code()}:\n{child.log_tail()}")

    def is_ready(self) -> bool:
        try:
            return httpx.get(self.ready_url, timeout=_ASK_SECONDS, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    def is_running(self) -> bool:
        return self._child is not None and self._child.is_running()

    def exit_code(self) -> int | None:
        """None while it runs; negative is the number of the signal that ended it."""
        return self._child.exit_code() if self._child is not None else None

    def stop(self, *, timeout_seconds: float = _STOP_SECONDS) -> bool:
        """SIGTERM, wait, SIGKILL. True when it ended by itself within the bound."""
        self.ask_to_stop()
        return self.end_within(timeout_seconds=timeout_seconds)

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting."""
        if self._child is not None:
            self._child.ask_to_stop()

    def end_within(self, *, timeout_seconds: float = _STOP_SECONDS) -> bool:
        """Wait for the end, then SIGKILL. True when it ended by itself."""
        return self._child is None or self._child.end_within(timeout_seconds)

    def kill(self) -> None:
        """SIGKILL: no chance to finish anything."""
        if self._child is not None:
            self._child.kill()

    def pause(self) -> None:
        """SIGSTOP: alive for the operating system, silent for everybody else."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._running().send_signal(signal.SIGCONT)

    def restart(self, *, wait: bool = True) -> None:
        self.stop()
        self.start(wait=wait)

    def restart_with(self, **environment: str) -> None:
        """Restart it in a changed environment, which it then keeps."""
        self.stop()
        self.env, self._child = {**self.env, **environment}, None
        self.start()

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._child


def run_to_end(commands: Sequence[Command], *, timeout_seconds: float) -> None:
    """Run short commands at the same time; raise with the log of the first that fails."""
    children = [Child(command) for command in commands]
    try:
        for child in children:
            child.start()
        wait_until(
            lambda: not any(child.is_running() for child in children),
            what=", ".join(command.name for command in commands),
            timeout_seconds=timeout_seconds,
        )
    finally:
        for child in children:
            child.kill()
    for child in children:
        if child.exit_code() != 0:
            raise ServiceDidNotStart(f"{child.command.name} ended with {child.exit_code()}:\n{child.log_tail()}")
