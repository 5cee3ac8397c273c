"""Tells a process we once started from a stranger that later got the same pid."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A pid together with the start time the operating system reports for it."""

    pid: int
    started: str

    def is_running(self) -> bool:
        return identify(self.pid) == self

    def write(self, path: Path) -> None:
        path.write_text(f"{self.pid} {self.started}\n", encoding="ascii")

    @staticmethod
    def read(path: Path) -> "Identity | None":
        try:
            pid, started = path.read_text(encoding="ascii").strip().split(" ", 1)
            return Identity(pid=int(pid), started=started)
        except (OSError, ValueError):
            return None


def identify(pid: int) -> Identity | None:
    """The identity of a running process; None when it is gone or only waits to be reaped."""
    if Path("/proc/self/stat").exists():
        return _identify_by_proc(pid)
    return _identify_by_ps(pid)


def _identify_by_proc(pid: int) -> Identity | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the command name before it may hold spaces and parentheses
    state, started = fields[0], fields[19]
    return None if state in "ZX" else Identity(pid=pid, started=started)


def _identify_by_ps(pid: int) -> Identity | None:
    answer = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=10, check=False
    )
    started = "-".join(answer.stdout.split())
    return Identity(pid=pid, started=started) if answer.returncode == 0 and started else None


def signal_group(pid: int, number: int) -> None:
    """Send a signal to the process group led by `pid`; a group that is gone is fine."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
