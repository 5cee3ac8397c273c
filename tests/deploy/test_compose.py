"""The compose file is valid, complete, hardened, and shows nothing beyond this machine."""

import re
import subprocess
import sys
from typing import Any

import pytest

from .compose import COMPOSE, FILE, environment_of_service, example_values, variables_used
from .workspace_members import SERVICES, SIMULATOR, SIMULATOR_PACKAGE

ALL: dict[str, dict[str, Any]] = COMPOSE["services"]
MIGRATIONS = {f"migrate-{name}" for name in SERVICES}
BACKING = {"postgres", "rabbitmq"}
BUILT = {**SERVICES, SIMULATOR: SIMULATOR_PACKAGE}
PUBLIC = {"api", "status-ingest", SIMULATOR, "rabbitmq"}
SCHEMA_SECONDS = 60


def test_the_file_follows_the_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=SCHEMA_SECONDS, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_everything_is_there() -> None:
    assert ALL.keys() == BACKING | MIGRATIONS | BUILT.keys()


def test_the_example_gives_every_variable_a_value_nobody_would_keep() -> None:
    values = example_values()
    assert values.keys() == variables_used()
    secrets = values.keys() - {"LOG_LEVEL", "SEAL_PEPPER"}
    assert all(values[name].startswith("development") for name in secrets)


def test_secrets_are_never_written_into_the_file() -> None:
    for name in ALL:
        for variable, value in ALL[name]["environment"].items():
            if re.search("PASS|KEY|TOKEN|PEPPER|SECRET", variable):
                assert re.fullmatch(r"\$\{\w+:\?\}", value), variable
            if "://" in value and "@" in value:
                assert re.search(r":\$\{\w+_PASSWORD:\?\}@", value), variable


@pytest.mark.parametrize("name", ALL)
def test_containers_are_confined(name: str) -> None:
    service = ALL[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert "/tmp" in service["tmpfs"]


@pytest.mark.parametrize("name", ALL)
def test_ports_are_published_on_loopback_only(name: str) -> None:
    ports = ALL[name].get("ports", [])
    assert bool(ports) == (name in PUBLIC)
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)


def test_published_ports_do_not_meet() -> None:
    published = [port.rsplit(":", 1)[0] for service in ALL.values() for port in service.get("ports", [])]
    assert len(published) == len(set(published))


@pytest.mark.parametrize("name", ALL)
def test_images_have_a_tag(name: str) -> None:
    assert re.fullmatch(r"[a-z/-]+:(?!latest)[\w.-]+", ALL[name]["image"])


@pytest.mark.parametrize("name", BUILT)
def test_an_image_is_built_from_its_package(name: str) -> None:
    assert ALL[name]["image"] == f"pilot-status/{name}:dev"
    assert ALL[name]["build"]["args"]["SERVICE"] == BUILT[name]
    assert ALL[name]["command"] == [BUILT[name]]
    if name in SERVICES:
        assert ALL[f"migrate-{name}"]["image"] == ALL[name]["image"]
        assert ALL[f"migrate-{name}"]["build"] == ALL[name]["build"]


@pytest.mark.parametrize("name", BUILT)
def test_services_are_asked_whether_they_are_ready(name: str) -> None:
    probe = ALL[name]["healthcheck"]["test"]
    path = "/" if name == SIMULATOR else "/ready"
    assert probe[:3] == ["CMD", "python", "-c"]
    assert f"'http://127.0.0.1:8000{path}'" in probe[3]
    assert {"interval", "timeout", "retries"} <= ALL[name]["healthcheck"].keys()


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_what_it_needs(name: str) -> None:
    waits = {other: condition["condition"] for other, condition in ALL[name]["depends_on"].items()}
    assert waits == {
        "postgres": "service_healthy",
        "rabbitmq": "service_healthy",
        f"migrate-{name}": "service_completed_successfully",
    }
    assert ALL[name]["restart"] == "unless-stopped"
    assert ALL[f"migrate-{name}"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert all("test" in ALL[backing]["healthcheck"] for backing in BACKING)


def test_only_those_who_need_it_reach_the_database() -> None:
    assert COMPOSE["networks"]["backing"]["internal"] is True
    assert {name for name in ALL if "backing" in ALL[name]["networks"]} == BACKING | MIGRATIONS | SERVICES.keys()
    assert ALL["postgres"]["networks"] == ["backing"]


def test_the_broker_has_file_handles_for_a_queue_per_number() -> None:
    assert ALL["rabbitmq"]["ulimits"]["nofile"] == {"soft": 65536, "hard": 65536}
    assert environment_of_service("rabbitmq")["RABBITMQ_DEFAULT_VHOST"] == "pilot"
    assert environment_of_service("api")["BROKER_URL"].endswith("@rabbitmq:5672/pilot")
