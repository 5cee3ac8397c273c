"""Gives each private server a folder that shows whether its owner lives, so that crashed runs can be cleaned up."""

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from local_stack.identity import Identity

_OWNER_LOCK = "owner.lock"
_OUTSIDE_LIST = "outside.txt"
_WORKSPACE_SUFFIX = ".workspace"
_CONTAINER_SUFFIX = ".container"


@dataclass(frozen=True, slots=True)
class Instance:
    """A folder `.run/instances/<name>-<8 hex>`; its owner holds the lock file for as long as it lives."""

    path: Path
    lock: IO[str]

    def record(self, child: str, identity: Identity) -> None:
        """Remember a child's pid and start time for the clean-up after a crash."""
        identity.write(self.path / f"{child}.pid")

    def remember_workspace(self, name: str) -> None:
        """Remember a database and virtual host that must be dropped even if this run crashes."""
        (self.path / f"{name}{_WORKSPACE_SUFFIX}").touch()

    def forget_workspace(self, name: str) -> None:
        (self.path / f"{name}{_WORKSPACE_SUFFIX}").unlink(missing_ok=True)

    def remember_container(self, name: str) -> None:
        """Remember a container that must be removed even if this run crashes."""
        (self.path / f"{name}{_CONTAINER_SUFFIX}").touch()

    def outside_folder(self, purpose: str) -> Path:
        """A short-named temporary folder outside the checkout that is removed together with this instance."""
        folder = Path(tempfile.mkdtemp(prefix=f"pilot-{purpose}-"))
        with (self.path / _OUTSIDE_LIST).open("a", encoding="utf-8") as known:
            known.write(f"{folder}\n")
        return folder

    def remove(self) -> None:
        _remove_folders(self.path)
        self.lock.close()


def create_instance(run_dir: Path, name: str) -> Instance:
    """Make a locked folder of our own."""
    with _all_instances_locked(run_dir) as parent:
        path = parent / f"{name}-{secrets.token_hex(4)}"
        path.mkdir()
        lock = (path / _OWNER_LOCK).open("w", encoding="ascii")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Instance(path, lock)


def abandoned_instances(run_dir: Path) -> list[Path]:
    """Folders whose owner no longer lives. The kernel gave their lock back, however the owner ended."""
    with _all_instances_locked(run_dir) as parent:
        return [path for path in sorted(parent.iterdir()) if path.is_dir() and not _is_owned(path)]


def recorded_children(path: Path) -> list[Identity]:
    found = (Identity.read(file) for file in sorted(path.glob("*.pid")))
    return [identity for identity in found if identity is not None]


def remembered_workspaces(path: Path) -> list[str]:
    return _remembered(path, _WORKSPACE_SUFFIX)


def remembered_containers(path: Path) -> list[str]:
    return _remembered(path, _CONTAINER_SUFFIX)


def _remembered(path: Path, suffix: str) -> list[str]:
    return [file.name.removesuffix(suffix) for file in sorted(path.glob(f"*{suffix}"))]


def remove_abandoned(path: Path) -> None:
    _remove_folders(path)


def _remove_folders(path: Path) -> None:
    with contextlib.suppress(OSError):
        for line in (path / _OUTSIDE_LIST).read_text(encoding="utf-8").splitlines():
            if Path(line).name.startswith("pilot-"):
                shutil.rmtree(line, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)


def _is_owned(path: Path) -> bool:
    try:
        with (path / _OWNER_LOCK).open("r", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


@contextlib.contextmanager
def _all_instances_locked(run_dir: Path) -> Iterator[Path]:
    parent = run_dir / "instances"
    parent.mkdir(parents=True, exist_ok=True)
    gate = os.open(parent / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield parent
    finally:
        os.close(gate)
