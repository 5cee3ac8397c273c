"""Runs a RabbitMQ broker of our own in a container, where Docker answers but no packages can be unpacked."""

import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.instances import Instance, create_instance
from local_stack.ports import answers, free_port
from local_stack.settings import container_environment, executable_path
from local_stack.vhosts import Broker, ControlTool, broker_version
from local_stack.waiting import wait_until

IMAGE = "rabbitmq:4"

_PULL_SECONDS = 600.0
_START_SECONDS = 120.0
_CALL_SECONDS = 60.0
_STOP_SECONDS = 20
_USER = "pilot"


class ContainerFailed(RuntimeError):
    """Raised with what the container engine complained about."""


def docker_answers() -> bool:
    """Whether there is a Docker client that reaches its engine."""
    if shutil.which("docker", path=executable_path()) is None:
        return False
    try:
        return _docker(["version", "--format", "{{.Server.Version}}"]).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def remove_container(name: str) -> None:
    """Remove it with its data; a container that is not there is fine."""
    if shutil.which("docker", path=executable_path()) is not None:
        _docker(["rm", "--force", "--volumes", name])


@dataclass(slots=True)
class ContainerRabbitMQ:
    """The same handles as PrivateRabbitMQ. Same port and data across restarts; removed when closed."""

    run_dir: Path
    image: str = IMAGE
    port: int = 0
    name: str = ""
    _password: str = field(default="", repr=False)
    _instance: Instance | None = field(default=None, repr=False)

    @property
    def broker(self) -> Broker:
        control = ControlTool(
            argv=["docker", "exec", self.name, "rabbitmqctl"],
            environment=container_environment(),
        )
        return Broker(address=f"127.0.0.1:{self.port}", user=_USER, password=self._password, admin=control)

    def url(self, vhost: str) -> str:
        return self.broker.url(vhost)

    def create_vhost(self, vhost: str) -> None:
        self.broker.create_vhost(vhost)

    def delete_vhost(self, vhost: str) -> None:
        self.broker.delete_vhost(vhost)

    def start(self) -> None:
        """Create the container the first time, start it and return when it accepts a login."""
        if self._instance is None:
            self._create()
        _must(["start", self.name])
        wait_until(self._ready, what="start of RabbitMQ in a container", timeout_seconds=_START_SECONDS)

    def is_running(self) -> bool:
        if not self.name:
            return False
        answer = _docker(["inspect", "--format", "{{.State.Running}}", self.name])
        return answer.returncode == 0 and answer.stdout.strip() == "true"

    def stop(self) -> None:
        _must(["stop", "--time", str(_STOP_SECONDS), self.name])

    def kill(self) -> None:
        _must(["kill", self.name])

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        if self._instance is not None:
            remove_container(self.name)
            self._instance.remove()
        self._instance = None

    def __enter__(self) -> "ContainerRabbitMQ":
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create(self) -> None:
        self._instance = create_instance(self.run_dir, "rabbitmq")
        self.name = f"pilot-{self._instance.path.name}"
        self._instance.remember_container(self.name)
        self._password = secrets.token_urlsafe(24)
        self.port = free_port()
        login = {"RABBITMQ_DEFAULT_USER": _USER, "RABBITMQ_DEFAULT_PASS": self._password}
        publish = ["--publish", f"127.0.0.1:{self.port}:5672"]
        passed_on = [argument for variable in login for argument in ("--env", variable)]  # the values stay off the list
        _must(
            ["create", "--name", self.name, "--hostname", "pilot-rabbitmq", *publish, *passed_on, self.image],
            environment=login,
            timeout_seconds=_PULL_SECONDS,
        )

    def _ready(self) -> bool:
        if not answers("127.0.0.1", self.port):
            return False
        try:
            broker_version(self.url("/"))
        except Exception:
            return False
        return True


def _must(
    arguments: Sequence[str], *, environment: dict[str, str] | None = None, timeout_seconds: float = _CALL_SECONDS
) -> None:
    try:
        answer = _docker(arguments, environment=environment, timeout_seconds=timeout_seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContainerFailed(f"docker {arguments[0]}: {type(error).__name__}") from error
    if answer.returncode != 0:
        raise ContainerFailed(f"docker {arguments[0]}: {answer.stderr.strip()[-400:]}")


def _docker(
    arguments: Sequence[str], *, environment: dict[str, str] | None = None, timeout_seconds: float = _CALL_SECONDS
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["docker", *arguments],
        env=container_environment() | (environment or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
