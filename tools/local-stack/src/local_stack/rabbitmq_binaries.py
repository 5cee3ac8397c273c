"""Finds RabbitMQ's own scripts, past distribution wrappers that switch users."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from local_stack.settings import executable_path

VERSION_MIN = (3, 10)

_INSTALLED = (
    "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin",
    "/opt/rabbitmq*/sbin",
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
)
_ERLANG = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")


@dataclass(frozen=True, slots=True, kw_only=True)
class RabbitMQBinaries:
    """The folder with `rabbitmq-server` and `rabbitmqctl`, the one with `erl` and `epmd`, and the broker's version."""

    scripts: Path
    erlang: Path
    version: tuple[int, int]
    library_path: str = ""

    @property
    def server(self) -> Path:
        return self.scripts / "rabbitmq-server"

    @property
    def control(self) -> Path:
        return self.scripts / "rabbitmqctl"


def installed_rabbitmq() -> RabbitMQBinaries | None:
    """The newest installed broker of at least VERSION_MIN, if Erlang is installed too."""
    erlang = _installed_erlang()
    if erlang is None:
        return None
    found = (inspect_scripts(scripts, erlang) for scripts in _installed_scripts())
    usable = [binaries for binaries in found if binaries and binaries.version >= VERSION_MIN]
    return max(usable, key=lambda binaries: binaries.version, default=None)


def inspect_scripts(scripts: Path, erlang: Path, *, library_path: str = "") -> RabbitMQBinaries | None:
    """What a script folder holds; None for wrappers, which do not have `rabbitmq-env` and the plugins around them."""
    if not all((scripts / name).is_file() for name in ("rabbitmq-server", "rabbitmqctl", "rabbitmq-env")):
        return None
    for plugin in scripts.resolve().parent.glob("plugins/rabbit-*"):
        version = re.fullmatch(r"rabbit-(\d+)\.(\d+)\..*", plugin.name)
        if version:
            major, minor = int(version.group(1)), int(version.group(2))
            return RabbitMQBinaries(
                scripts=scripts.resolve(), erlang=erlang, version=(major, minor), library_path=library_path
            )
    return None


def _installed_scripts() -> list[Path]:
    folders = [folder for pattern in _INSTALLED for folder in Path("/").glob(pattern.lstrip("/"))]
    on_path = shutil.which("rabbitmq-server", path=executable_path())
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    return folders


def _installed_erlang() -> Path | None:
    on_path = shutil.which("erl", path=executable_path())
    folders = [Path(on_path).parent] if on_path else []
    folders.extend(Path(folder) for folder in _ERLANG)
    return next((folder for folder in folders if (folder / "erl").exists() and (folder / "epmd").exists()), None)
