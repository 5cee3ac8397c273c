"""Runs a PostgreSQL server of our own, on loopback, with its data in a folder of this run."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.databases import look_at
from local_stack.instances import Instance, create_instance
from local_stack.ports import free_port
from local_stack.postgres_binaries import PostgresBinaries
from local_stack.processes import Account, Child, Command
from local_stack.settings import inherited_environment
from local_stack.waiting import wait_until

_START_SECONDS = 30.0
_STOP_SECONDS = 15.0
_INITDB_SECONDS = 60.0

_CONFIGURATION = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "fsync": "on",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",  # the detail line of a violated constraint would show row contents
    "log_min_error_statement": "panic",
    "timezone": "UTC",
}


class PostgresDidNotStart(RuntimeError):
    """Raised with the end of the server's log."""


@dataclass(slots=True)
class PrivatePostgres:
    """A server that this process starts and stops; port, password and data survive restarts and go when it closes."""

    run_dir: Path
    binaries: PostgresBinaries
    settings: dict[str, str] = field(default_factory=dict)
    port: int = 0
    _password: str = field(default="", repr=False)
    _instance: Instance | None = field(default=None, repr=False)
    _child: Child | None = field(default=None, repr=False)

    @property
    def admin_url(self) -> str:
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Create the data folder the first time, start the server and return when it answers queries."""
        if self._child is None:
            self._child = self._prepare()
        # A killed predecessor's backends may need a moment to let go of the shared memory: try again until then.
        wait_until(self._start_and_answer, what="start of private PostgreSQL", timeout_seconds=_START_SECONDS)

    def is_running(self) -> bool:
        return self._child is not None and self._child.is_running()

    def stop(self) -> None:
        """Fast shutdown: ends sessions, writes a checkpoint; killed if that takes too long."""
        if self._child is not None:
            self._child.stop(signal.SIGINT, timeout_seconds=_STOP_SECONDS)

    def kill(self) -> None:
        """As if the power failed."""
        if self._child is not None:
            self._child.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and remove all it wrote."""
        self.stop()
        if self._instance is not None:
            self._instance.remove()
        self._instance = self._child = None

    def __enter__(self) -> "PrivatePostgres":
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> Child:
        self._instance = instance = create_instance(self.run_dir, "postgres")
        self._password = secrets.token_urlsafe(24)
        self.port = free_port()
        account = _account()
        place = _place(instance, self.binaries, account)
        _initialise(place, account, self._password)
        sockets = instance.outside_folder("pg")
        _give(sockets, account)
        options = _CONFIGURATION | self.settings | {"port": str(self.port), "unix_socket_directories": str(sockets)}
        return Child(
            Command(
                name="postgres",
                argv=[str(place.binaries.postgres), "-D", str(place.data), *_as_arguments(options)],
                environment=inherited_environment(),
                log_path=self.run_dir / "logs" / f"{instance.path.name}.log",
                folder=place.data,
                account=account,
                death_signal=signal.SIGQUIT,
            ),
            instance,
        )

    def _start_and_answer(self) -> bool:
        child = self._child
        if child is None:
            raise RuntimeError("not prepared")
        if not child.is_running():
            child.start()
        wait_until(lambda: not child.is_running() or self._answers(), what="an answer", timeout_seconds=_START_SECONDS)
        if child.is_running():
            return True
        if "shared memory" in child.log_tail(lines_max=3) or "lock file" in child.log_tail(lines_max=3):
            return False
        raise PostgresDidNotStart(child.log_tail())

    def _answers(self) -> bool:
        try:
            look_at(self.admin_url)
        except Exception:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    data: Path
    binaries: PostgresBinaries


def _account() -> Account | None:
    """Postgres refuses to run as root; `nobody` owns nothing that it could harm."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(user_id=nobody.pw_uid, group_id=nobody.pw_gid)


def _place(instance: Instance, binaries: PostgresBinaries, account: Account | None) -> _Place:
    """Data beside the checkout and programs where they are, unless that account cannot get there."""
    data = instance.path / "data"
    if not _can_run(["test", "-x", str(instance.path)], account):
        data = instance.outside_folder("pgdata") / "data"
        data.parent.chmod(0o711)
    data.mkdir(mode=0o700)
    _give(data, account)
    if not _can_run([str(binaries.postgres), "--version"], account):
        copied = instance.outside_folder("pgbin")
        copied.chmod(0o755)
        shutil.copytree(binaries.installation, copied / "postgres", symlinks=True)
        binaries = PostgresBinaries(folder=copied / "postgres" / binaries.folder.name, version=binaries.version)
    return _Place(data=data, binaries=binaries)


def _initialise(place: _Place, account: Account | None, password: str) -> None:
    arguments = ["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
    password_file = place.data.with_name("password")
    password_file.touch(mode=0o600)
    password_file.write_text(f"{password}\n", encoding="ascii")
    _give(password_file, account)
    answer = _run(
        [str(place.binaries.initdb), "-D", str(place.data), *arguments, f"--pwfile={password_file}"],
        account,
        timeout_seconds=_INITDB_SECONDS,
    )
    password_file.unlink()
    if answer.returncode != 0:
        raise PostgresDidNotStart(f"initdb: {answer.stderr.strip()[-2000:]}")


def _as_arguments(options: dict[str, str]) -> Sequence[str]:
    return [part for name, value in options.items() for part in ("-c", f"{name}={value}")]


def _give(path: Path, account: Account | None) -> None:
    if account is not None:
        os.chown(path, account.user_id, account.group_id)


def _can_run(argv: list[str], account: Account | None) -> bool:
    try:
        return _run(argv, account, timeout_seconds=10).returncode == 0
    except OSError:
        return False


def _run(argv: list[str], account: Account | None, *, timeout_seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
        cwd="/",
        env=inherited_environment(),
        user=None if account is None else account.user_id,
        group=None if account is None else account.group_id,
        extra_groups=None if account is None else [],
    )
