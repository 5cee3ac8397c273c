"""Each service is told exactly what it needs, and every process can be stopped, paused, killed and restarted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_stack.backing import Backing
from local_stack.environment import (
    Credentials,
    Ports,
    Service,
    ingest_url,
    migration_environment,
    service_environment,
)
from local_stack.instances import create_instance
from local_stack.services import ServiceDidNotStart
from local_stack.system import System
from local_stack.vhosts import Broker, ManagementApi
from local_stack.waiting import wait_until
from local_stack.workspace import Workspace

NAME = "pilot_test_0a1b2c3d"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Addresses only: no server is asked."""
    instance = create_instance(tmp_path, "run")
    admin = ManagementApi(url="http://127.0.0.1:15672", user="u", password="p")
    backing = Backing(
        postgres_admin_url="postgresql://postgres:admin-secret@127.0.0.1:5433/postgres",
        rabbitmq=Broker(address="127.0.0.1:5673", user="pilot", password="p/w", admin=admin),
        instance=instance,
    )
    yield Workspace(backing=backing, name=NAME)
    instance.remove()


@pytest.fixture
def system(workspace: Workspace, tmp_path: Path) -> Iterator[System]:
    system = System(
        workspace=workspace, run_dir=tmp_path, overrides={Service.RECONCILER: {"MESSAGE_RECONCILER_INTERVAL_MS": "50"}}
    )
    yield system
    system.close()


@pytest.mark.parametrize("service", Service)
def test_a_service_gets_its_own_role_and_no_administrator(workspace: Workspace, service: Service) -> None:
    ports, credentials = Ports(), Credentials()
    environment = service_environment(service, workspace=workspace, ports=ports, credentials=credentials)
    password = credentials.database_passwords[service]
    assert environment["DATABASE_URL"] == f"postgresql://{NAME}_{service}:{password}@127.0.0.1:5433/{NAME}"
    assert environment["BROKER_URL"] == f"amqp://pilot:p%2Fw@127.0.0.1:5673/{NAME}"
    assert environment["HTTP_PORT"] == str(ports.services[service])
    assert "admin-secret" not in json.dumps(environment)
    migrating = migration_environment(service, workspace=workspace, ports=ports, credentials=credentials)
    assert migrating["DATABASE_ADMIN_URL"] == f"postgresql://postgres:admin-secret@127.0.0.1:5433/{NAME}"


def test_a_secret_is_told_only_to_those_who_need_it(workspace: Workspace) -> None:
    ports, credentials = Ports(), Credentials()

    def knowing(variable: str) -> set[Service]:
        return {
            service
            for service in Service
            if variable in service_environment(service, workspace=workspace, ports=ports, credentials=credentials)
        }

    assert knowing("OPERATOR_KEY") == {Service.API}
    assert knowing("INGEST_TOKEN") == {Service.STATUS_INGEST}
    assert knowing("INGEST_URL") == {Service.API}
    assert knowing("SEAL_KEYS") == set(Service)
    assert ingest_url(ports, credentials).endswith(f"/webhooks/evolution/{credentials.ingest_token}")
    assert credentials.seal_keys not in repr(credentials)


def test_overrides_win_and_replicas_have_their_own_port(system: System) -> None:
    assert system.services[Service.RECONCILER].env["MESSAGE_RECONCILER_INTERVAL_MS"] == "50"
    first, second = system.services[Service.DISPATCHER], system.new_replica(Service.DISPATCHER)
    assert second.name == "dispatcher-2"
    assert first.env["HTTP_PORT"] != second.env["HTTP_PORT"]
    assert {**first.env, "HTTP_PORT": ""} == {**second.env, "HTTP_PORT": ""}


def test_a_process_is_restarted_paused_and_killed_on_the_same_port(system: System) -> None:
    gateway = system.gateway
    gateway.start()
    first = gateway.pid
    gateway.restart()
    assert gateway.pid != first
    gateway.pause()
    assert gateway.is_running()
    assert not gateway.is_ready()
    gateway.resume()
    wait_until(gateway.is_ready, what="answer after resuming", timeout_seconds=10)
    gateway.kill()
    assert gateway.exit_code() == -9
    assert not gateway.is_ready()
    gateway.start()
    assert gateway.stop(timeout_seconds=10)


def test_a_process_that_ends_at_once_says_why(system: System) -> None:
    system.gateway.argv = [*system.gateway.argv, "--no-such-flag"]
    with pytest.raises(ServiceDidNotStart, match="no-such-flag"):
        system.gateway.start()
