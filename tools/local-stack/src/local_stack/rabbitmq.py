"""Runs a RabbitMQ broker of our own, on loopback, that shares no port, name or cookie with any other."""

import secrets
import signal
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.instances import Instance, create_instance
from local_stack.ports import answers, free_port
from local_stack.processes import Child, Command
from local_stack.rabbitmq_binaries import RabbitMQBinaries
from local_stack.settings import inherited_environment
from local_stack.vhosts import Broker, ControlTool, broker_version
from local_stack.waiting import wait_until

_START_SECONDS = 90.0
_STOP_SECONDS = 20.0
_USER = "pilot"


class RabbitMQDidNotStart(RuntimeError):
    """Raised with the end of the broker's log."""


@dataclass(slots=True)
class PrivateRabbitMQ:
    """A broker that this process starts and stops. Same ports, users and data across restarts; removed when closed."""

    run_dir: Path
    binaries: RabbitMQBinaries
    port: int = 0
    _environment: dict[str, str] = field(default_factory=dict, repr=False)
    _password: str = field(default="", repr=False)
    _instance: Instance | None = field(default=None, repr=False)
    _broker: Child | None = field(default=None, repr=False)
    _port_mapper: Child | None = field(default=None, repr=False)

    @property
    def broker(self) -> Broker:
        control = ControlTool(argv=[str(self.binaries.control)], environment=self._environment)
        return Broker(address=f"127.0.0.1:{self.port}", user=_USER, password=self._password, admin=control)

    def url(self, vhost: str) -> str:
        return self.broker.url(vhost)

    def create_vhost(self, vhost: str) -> None:
        self.broker.create_vhost(vhost)

    def delete_vhost(self, vhost: str) -> None:
        self.broker.delete_vhost(vhost)

    def start(self) -> None:
        """Start the node and return when it accepts a login."""
        if self._broker is None:
            self._prepare()
        mapper, broker = self._port_mapper, self._broker
        if mapper is None or broker is None:
            raise RuntimeError("not prepared")
        if not mapper.is_running():
            mapper.start()
        broker.start()
        wait_until(self._settled, what="start of private RabbitMQ", timeout_seconds=_START_SECONDS, pause_seconds=0.1)
        if not broker.is_running():
            raise RabbitMQDidNotStart(broker.log_tail())

    def is_running(self) -> bool:
        return self._broker is not None and self._broker.is_running()

    def stop(self) -> None:
        """Orderly shutdown of the node; killed if that takes too long."""
        if self._broker is not None:
            self._broker.stop(signal.SIGTERM, timeout_seconds=_STOP_SECONDS)

    def kill(self) -> None:
        """As if the machine failed."""
        if self._broker is not None:
            self._broker.kill()

    def restart(self) -> None:
        """Back with the same ports and data; returns when AMQP answers again."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End node and port mapper and remove all they wrote; nothing is left that an orderly stop would save."""
        self.kill()
        if self._port_mapper is not None:
            self._port_mapper.stop(timeout_seconds=5)
        if self._instance is not None:
            self._instance.remove()
        self._instance = self._broker = self._port_mapper = None

    def __enter__(self) -> "PrivateRabbitMQ":
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settled(self) -> bool:
        """Either ready or dead; asking the port first keeps refused logins out of the broker's log."""
        if self._broker is None or not self._broker.is_running():
            return True
        if not answers("127.0.0.1", self.port):
            return False
        try:
            broker_version(self.url("/"))
        except Exception:
            return False
        return True

    def _prepare(self) -> None:
        self._instance = instance = create_instance(self.run_dir, "rabbitmq")
        self._password = secrets.token_urlsafe(24)
        self.port = free_port()
        log_path = self.run_dir / "logs" / f"{instance.path.name}.log"
        self._environment = environment = _node_environment(instance.path, self.binaries)
        _write_configuration(instance.path, self)
        mapper_port = environment["ERL_EPMD_PORT"]
        mapper = [str(self.binaries.erlang / "epmd"), "-port", mapper_port, "-address", "127.0.0.1"]
        self._port_mapper = Child(
            Command(name="epmd", argv=mapper, environment=environment, log_path=log_path), instance
        )
        self._broker = Child(
            Command(
                name="rabbitmq",
                argv=[str(self.binaries.server)],
                environment=environment,
                log_path=log_path,
                folder=instance.path,
            ),
            instance,
        )

    def configuration(self) -> str:
        return "\n".join(
            (
                f"listeners.tcp.1 = 127.0.0.1:{self.port}",
                f"default_user = {_USER}",
                f"default_pass = {self._password}",
                "log.console = true",
                "log.console.level = warning",
                "log.file = false",
                "",
            )
        )


def _node_environment(folder: Path, binaries: RabbitMQBinaries) -> dict[str, str]:
    inherited = inherited_environment()
    environment = inherited | {
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{binaries.erlang}:{inherited.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(free_port()),
        "RABBITMQ_ALLOW_INPUT": "true",  # the script then execs Erlang instead of staying as its parent
        "RABBITMQ_SERVER_START_ARGS": "-noinput",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "RABBITMQ_NODENAME": f"pilot-{folder.name}@localhost",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "node.pid.txt"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "rabbitmq-env.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
        "RABBITMQ_FEATURE_FLAGS_FILE": str(folder / "feature_flags"),
    }
    if binaries.library_path:
        environment["LD_LIBRARY_PATH"] = binaries.library_path
    return environment


def _write_configuration(folder: Path, node: PrivateRabbitMQ) -> None:
    for name in ("data", "log", "generated"):
        (folder / name).mkdir()
    (folder / "rabbitmq.conf").write_text(node.configuration(), encoding="utf-8")
    (folder / "rabbitmq-env.conf").touch()
    (folder / "enabled_plugins").write_text("[].\n", encoding="ascii")
    cookie = folder / ".erlang.cookie"
    cookie.touch(mode=0o600)
    cookie.write_text(secrets.token_hex(16), encoding="ascii")
    cookie.chmod(0o400)
