"""How much processor time the services have used, which a busy neighbour changes far less than the wall clock."""

import os
from pathlib import Path

from local_stack.system import System

USER, SYSTEM = 11, 12
"""Fields of /proc/<pid>/stat after the name, see proc(5)."""


def cpu_seconds(system: System) -> dict[str, float]:
    """By service, since it started; empty where there is no /proc."""
    pids = {str(name): process.pid for name, process in system.services.items()}
    return {name: cpu_seconds_of(pid) for name, pid in pids.items() if Path(f"/proc/{pid}/stat").exists()}


def cpu_seconds_of(pid: int) -> float:
    """User and system time of one process; needs /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[USER]) + int(fields[SYSTEM])) / os.sysconf("SC_CLK_TCK")
