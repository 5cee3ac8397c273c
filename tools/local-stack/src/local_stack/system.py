"""Runs the whole system in one workspace: migrations, the gateway simulator and the five services as processes."""

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.environment import Credentials, Ports, Service, migration_environment, service_environment
from local_stack.instances import Instance, create_instance
from local_stack.ports import free_port
from local_stack.processes import Command
from local_stack.services import ServiceProcess, run_to_end
from local_stack.settings import inherited_environment
from local_stack.workspace import Workspace

_MIGRATE_SECONDS = 120.0


@dataclass(slots=True, kw_only=True)
class System:
    """`overrides` adds to or replaces a service's environment; `gateway_arguments` are further simulator flags."""

    workspace: Workspace
    run_dir: Path
    overrides: Mapping[Service, Mapping[str, str]] = field(default_factory=dict)
    gateway_arguments: Sequence[str] = ()
    credentials: Credentials = field(default_factory=Credentials)
    ports: Ports = field(default_factory=Ports)
    gateway: ServiceProcess = field(init=False)
    services: dict[Service, ServiceProcess] = field(init=False)
    _replicas: list[ServiceProcess] = field(default_factory=list, init=False)
    _instance: Instance = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._instance = create_instance(self.run_dir, "system")
        self.gateway = self._gateway_process("evolution-simulator", self.ports.gateway, self.ledger_path)
        self.services = {service: self._service_process(service) for service in Service}

    @property
    def api_url(self) -> str:
        return self.ports.url(Service.API)

    @property
    def gateway_url(self) -> str:
        return self.ports.gateway_url

    @property
    def log_dir(self) -> Path:
        return self.run_dir / "logs" / self.workspace.name

    @property
    def ledger_path(self) -> Path:
        """What the simulator really accepted, one line per send."""
        return self._instance.path / "gateway-ledger.jsonl"

    def start(self) -> None:
        """Migrate all schemas, start everything at once, return when everything is ready."""
        self.migrate()
        everything = [self.gateway, *self.services.values()]
        for process in everything:
            process.start(wait=False)
        for process in everything:
            process.wait_ready()

    def migrate(self) -> None:
        """Create roles and schemas and bring them up to date; may be repeated."""
        run_to_end([self._migration(service) for service in Service], timeout_seconds=_MIGRATE_SECONDS)

    def stop(self) -> None:
        """Ask the services in reverse order to finish, then the gateway; whoever overstays is killed."""
        services = [*reversed(self._replicas), *reversed(self.services.values())]
        for process in services:
            process.ask_to_stop()
        for process in services:
            process.end_within()
        self.gateway.stop()

    def close(self) -> None:
        """Stop everything and forget the ledger."""
        self.stop()
        self._instance.remove()

    def new_replica(self, service: Service) -> ServiceProcess:
        """One more process of a service on a port of its own; not started yet, stopped with the rest."""
        replica = self._service_process(service, port=free_port(), number=len(self._replicas) + 2)
        self._replicas.append(replica)
        return replica

    def new_gateway(self) -> tuple[ServiceProcess, str]:
        """One more gateway, for stories in which one goes down, and its address; not started, stopped with the rest."""
        port = free_port()
        gateway = self._gateway_process(f"gateway-{port}", port, self._instance.path / f"gateway-{port}.jsonl")
        self._replicas.append(gateway)
        return gateway, f"http://127.0.0.1:{port}"

    def _service_process(self, service: Service, *, port: int | None = None, number: int = 1) -> ServiceProcess:
        name = service.value if number == 1 else f"{service}-{number}"
        environment = service_environment(
            service, workspace=self.workspace, ports=self.ports, credentials=self.credentials, port=port
        )
        return ServiceProcess(
            name=name,
            argv=[sys.executable, "-m", service.value],
            env=environment | dict(self.overrides.get(service, {})),
            log_path=self.log_dir / f"{name}.log",
            ready_url=f"http://127.0.0.1:{port or self.ports.services[service]}/ready",
            instance=self._instance,
        )

    def _gateway_process(self, name: str, port: int, ledger: Path) -> ServiceProcess:
        place = ["--host", "127.0.0.1", "--port", str(port), "--ledger", str(ledger)]
        key = {"SIMULATOR_API_KEY": self.credentials.gateway_key}  # not an argument: those show in process lists
        return ServiceProcess(
            name=name,
            argv=[sys.executable, "-m", "evolution_simulator", *place, *self.gateway_arguments],
            env=inherited_environment() | {"PYTHONUNBUFFERED": "1"} | key,
            log_path=self.log_dir / f"{name}.log",
            ready_url=f"http://127.0.0.1:{port}/",
            instance=self._instance,
        )

    def _migration(self, service: Service) -> Command:
        environment = migration_environment(
            service, workspace=self.workspace, ports=self.ports, credentials=self.credentials
        )
        return Command(
            name=f"{service} migrate",
            argv=[sys.executable, "-m", service.value, "migrate"],
            environment=environment | dict(self.overrides.get(service, {})),
            log_path=self.log_dir / f"{service}-migrate.log",
        )


@contextlib.contextmanager
def open_system(
    workspace: Workspace,
    run_dir: Path,
    *,
    overrides: Mapping[Service, Mapping[str, str]] | None = None,
    gateway_arguments: Sequence[str] = (),
) -> Iterator[System]:
    """A started system; stopped in reverse order on leaving."""
    system = System(
        workspace=workspace, run_dir=run_dir.resolve(), overrides=overrides or {}, gateway_arguments=gateway_arguments
    )
    with contextlib.closing(system):
        system.start()
        yield system
