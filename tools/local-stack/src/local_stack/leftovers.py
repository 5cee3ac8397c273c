"""Ends what a crashed run left running, before a new run starts its own servers."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

from local_stack.identity import Identity
from local_stack.instances import (
    abandoned_instances,
    recorded_children,
    remembered_containers,
    remembered_workspaces,
    remove_abandoned,
)
from local_stack.processes import end_leftover
from local_stack.rabbitmq_container import remove_container
from local_stack.waiting import wait_until

_LOGS_KEPT_MAX = 60


def clean_leftovers(run_dir: Path, say: Callable[[str], None]) -> list[str]:
    """Kill the recorded children of dead owners (only if pid and start time match) and remove their folders.

    Returns the names of workspaces that such runs could not drop.
    """
    workspaces: list[str] = []
    for path in abandoned_instances(run_dir):
        workspaces.extend(remembered_workspaces(path))
        _end_all(recorded_children(path), of=path.name)
        for container in remembered_containers(path):
            remove_container(container)
        remove_abandoned(path)
        say(f"removed what an earlier run left: {path.name}")
    _prune_logs(run_dir / "logs")
    return workspaces


def _end_all(children: list[Identity], *, of: str) -> None:
    for child in children:
        end_leftover(child)
    wait_until(
        lambda: not any(child.is_running() for child in children),
        what=f"end of what an earlier run left in {of}",
        timeout_seconds=10,
    )


def _prune_logs(folder: Path) -> None:
    """Keep the newest logs only; another run may be pruning too."""
    with contextlib.suppress(FileNotFoundError):
        by_age = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in by_age[_LOGS_KEPT_MAX:]:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
