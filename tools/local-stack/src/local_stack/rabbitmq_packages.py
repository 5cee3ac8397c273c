"""Unpacks Debian's RabbitMQ and Erlang packages into a folder, without root and without installing anything."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from local_stack.rabbitmq_binaries import RabbitMQBinaries, inspect_scripts
from local_stack.settings import executable_path, inherited_environment

_ERLANG_PARTS = (
    "base asn1 crypto eldap ftp inets mnesia os-mon parsetools public-key runtime-tools snmp ssl syntax-tools tftp"
    " tools xmerl"
)
_PACKAGES = ("rabbitmq-server", "libsctp1", "socat", *(f"erlang-{part}" for part in _ERLANG_PARTS.split()))
_DOWNLOAD_SECONDS = 300.0
_UNPACK_SECONDS = 60.0


class PackagesNotAvailable(RuntimeError):
    """Raised when the packages cannot be downloaded or unpacked here."""


def packages_can_be_unpacked() -> bool:
    """Whether this is a machine with apt and dpkg."""
    return all(shutil.which(program, path=executable_path()) for program in ("apt-get", "dpkg"))


def unpacked_rabbitmq(cache_dir: Path, say: Callable[[str], None]) -> RabbitMQBinaries:
    """The broker under `cache_dir`, downloaded and unpacked on first use; several processes may ask at once."""
    cache_dir.mkdir(parents=True, exist_ok=True)
    with (cache_dir / "rabbitmq.lock").open("w", encoding="ascii") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        root = cache_dir / "rabbitmq"
        if not _inspect(root):
            say("downloading RabbitMQ and Erlang packages (about 35 MB, once)")
            _download(cache_dir / "debs")
            _unpack(cache_dir / "debs", root)
        binaries = _inspect(root)
    if binaries is None:
        raise PackagesNotAvailable("the unpacked packages hold no usable broker")
    return binaries


def _inspect(root: Path) -> RabbitMQBinaries | None:
    erlang = root / "usr/lib/erlang/bin"
    libraries = ":".join(str(folder) for folder in sorted((root / "usr/lib").glob("*-linux-*")))
    for scripts in (root / "usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin"):
        return inspect_scripts(scripts, erlang, library_path=libraries)
    return None


def _download(debs: Path) -> None:
    debs.mkdir(parents=True, exist_ok=True)
    answer = _apt(debs, [], ["download", *_PACKAGES])
    if answer.returncode != 0:
        # No package lists, or old ones: fetch lists of our own, which needs no root.
        options = _private_lists(debs.parent / "apt")
        _must(_apt(debs, options, ["update"]), "apt-get update")
        _must(_apt(debs, options, ["download", *_PACKAGES]), "apt-get download")


def _private_lists(folder: Path) -> list[str]:
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return [
        f"-oDir::State={folder / 'state'}",
        f"-oDir::Cache={folder / 'cache'}",
        "-oDir::State::status=/var/lib/dpkg/status",
    ]


def _apt(debs: Path, options: list[str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    sandbox = ["-oAPT::Sandbox::User=root"] if os.geteuid() == 0 else []
    return _run(["apt-get", "-q", *sandbox, *options, *arguments], folder=debs, timeout_seconds=_DOWNLOAD_SECONDS)


def _unpack(debs: Path, root: Path) -> None:
    """Unpack beside the final place and rename: a folder with the final name is complete."""
    fresh = root.with_name("rabbitmq.partial")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(root, ignore_errors=True)
    for deb in sorted(debs.glob("*.deb")):
        unpacked = _run(["dpkg", "-x", str(deb), str(fresh)], folder=debs, timeout_seconds=_UNPACK_SECONDS)
        _must(unpacked, f"dpkg -x {deb.name}")
    _make_erlang_relocatable(fresh / "usr/lib/erlang")
    fresh.rename(root)
    shutil.rmtree(debs, ignore_errors=True)


def _make_erlang_relocatable(erlang: Path) -> None:
    """Erlang's start scripts carry the path they were built for; let them find themselves instead."""
    for pattern, up in (("bin/erl", ".."), ("erts-*/bin/erl", "../..")):
        for script in erlang.glob(pattern):
            text = script.read_text(encoding="utf-8")
            found = f'"$(readlink -f "$(dirname "$0")/{up}")"'
            script.write_text(text.replace("ROOTDIR=/usr/lib/erlang\n", f"ROOTDIR={found}\n"), encoding="utf-8")


def _run(argv: list[str], *, folder: Path, timeout_seconds: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            cwd=folder,
            env=inherited_environment(with_proxies=True) | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PackagesNotAvailable(f"{argv[0]}: {type(error).__name__}") from error


def _must(answer: subprocess.CompletedProcess[str], what: str) -> None:
    if answer.returncode != 0:
        raise PackagesNotAvailable(f"{what}: {answer.stderr.strip()[-600:]}")
