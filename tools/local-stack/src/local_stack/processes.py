"""Starts child processes that can be stopped in order and that never outlive the run which started them."""

import contextlib
import ctypes
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.identity import Identity, identify, signal_group
from local_stack.instances import Instance

_PR_SET_PDEATHSIG = 1
_OPEN_FILES_WANTED = 65_536

# Linux sends the death signal when the *thread* that forked ends, so one thread that lives as long as we do forks all.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The operating-system user a child runs as; used because Postgres refuses root."""

    user_id: int
    group_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run and how: the whole environment is given, nothing is inherited by accident."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    log_path: Path
    folder: Path | None = None
    account: Account | None = None
    death_signal: int = signal.SIGKILL


@dataclass(slots=True)
class Child:
    """One running child in a session of its own, so that Ctrl-C reaches it only through us."""

    command: Command
    instance: Instance | None = None
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.command.name} was not started")
        return self._process.pid

    def start(self) -> None:
        if self.is_running():
            raise RuntimeError(f"{self.command.name} runs already")
        self._process = _spawner.submit(_spawn, self.command).result()
        identity = identify(self._process.pid)
        if self.instance is not None and identity is not None:
            self.instance.record(self.command.name, identity)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def send_signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM, *, timeout_seconds: float) -> bool:
        """Ask, wait, then kill the whole group. True when asking was enough."""
        self.ask_to_stop(number)
        return self.end_within(timeout_seconds)

    def ask_to_stop(self, number: int = signal.SIGTERM) -> None:
        """Signal the leader, paused or not, and return at once."""
        self.send_signal(number)
        self.send_signal(signal.SIGCONT)

    def end_within(self, timeout_seconds: float) -> bool:
        """Wait for the end, then kill whatever is left of the group. True when it ended by itself."""
        if self._process is None:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_seconds)
        willing = self._process.poll() is not None
        self.kill()
        return willing

    def kill(self) -> None:
        """SIGKILL the whole group and reap the leader."""
        if self._process is None:
            return
        signal_group(self._process.pid, signal.SIGKILL)
        self._process.wait(10)

    def log_tail(self, *, lines_max: int = 15) -> str:
        try:
            return "\n".join(self.command.log_path.read_text(errors="replace").splitlines()[-lines_max:])
        except OSError:
            return ""


def _spawn(command: Command) -> subprocess.Popen[bytes]:
    command.log_path.parent.mkdir(parents=True, exist_ok=True)
    account = command.account
    with command.log_path.open("ab") as log:
        return subprocess.Popen(
            list(command.argv),
            env=dict(command.environment),
            cwd=command.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_before_exec(command.death_signal),  # noqa: PLW1509 - only system calls, prepared before
            user=None if account is None else account.user_id,
            group=None if account is None else account.group_id,
            extra_groups=None if account is None else [],
        )


def _before_exec(death_signal: int) -> Callable[[], None]:
    """Prepared in the parent: the child only makes two system calls between fork and exec."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None
    limits = _open_files_limits()

    def prepare() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        for limit in limits:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, limit)
                return

    return prepare


def _open_files_limits() -> list[tuple[int, int]]:
    """What to try in turn: a raised hard limit (needs a privilege), then all that the present one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _OPEN_FILES_WANTED:
        return []
    if hard == resource.RLIM_INFINITY or hard >= _OPEN_FILES_WANTED:
        return [(_OPEN_FILES_WANTED, hard)]
    return [(_OPEN_FILES_WANTED, _OPEN_FILES_WANTED), (hard, hard)]


def end_leftover(identity: Identity) -> None:
    """Kill the group of a child that a crashed run left, if that very process still runs."""
    if identity.is_running():
        signal_group(identity.pid, signal.SIGKILL)
