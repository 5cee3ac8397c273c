"""Every variable a deployment sets is one its service reads, every one it needs is set, and examples are usable."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from chassis.migration_settings import MigrationSettings
from evolution_simulator.settings import SimulatorSettings

from .compose import COMPOSE, environment_of_service
from .manifests import BASE, LOCAL, assembled, containers_of, environment_of, of_kind
from .workspace_members import SERVICES, SIMULATOR, seals_used_by, settings_of, variables_of

DOCUMENTS = assembled(BASE)
CONFIG = of_kind(DOCUMENTS, "ConfigMap")["pilot-config"]["data"]
SEALS = {"SEAL_KEYS", "SEAL_PEPPER"}


def kubernetes_environment(name: str) -> dict[str, str]:
    [container] = containers_of(of_kind(DOCUMENTS, "Deployment")[name])
    return environment_of(container, CONFIG)


def compose_environment(name: str) -> dict[str, str]:
    return environment_of_service(name)


PLACES = {"kubernetes": kubernetes_environment, "compose": compose_environment}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Any:
    return PLACES[request.param]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_told_what_it_reads(name: str, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = place(name)
    known = variables_of(settings_of(SERVICES[name]))
    assert given.keys() <= known.keys()
    assert {variable for variable, required in known.items() if required} <= given.keys()
    assert given.keys() & SEALS == seals_used_by(name)
    for variable in known:
        monkeypatch.delenv(variable, raising=False)
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    settings = settings_of(SERVICES[name]).load()
    assert (settings.http_host, settings.http_port) == ("0.0.0.0", 8000)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_its_own_database_role_and_no_other(name: str, place: Any) -> None:
    given = place(name)
    assert urlsplit(given["DATABASE_URL"]).username == f"pilot_{SERVICES[name]}"
    assert sum(value.startswith("postgresql://") for value in given.values()) == 1
    assert "DATABASE_ADMIN_URL" not in given


@pytest.mark.parametrize("name", SERVICES)
def test_migrations_have_the_role_of_their_service(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = {container["name"]: container for container in containers_of(of_kind(DOCUMENTS, "Job")["migrations"])}
    assert jobs.keys() == SERVICES.keys()
    assert jobs[name]["command"] == ["python", "-m", SERVICES[name], "migrate"]
    assert jobs[name]["image"] == next(containers_of(of_kind(DOCUMENTS, "Deployment")[name]))["image"]
    assert COMPOSE["services"][f"migrate-{name}"]["command"] == [SERVICES[name], "migrate"]
    for given, serving in (
        (environment_of(jobs[name], CONFIG), kubernetes_environment(name)),
        (environment_of_service(f"migrate-{name}"), compose_environment(name)),
    ):
        assert given.keys() == {"DATABASE_URL", "DATABASE_ADMIN_URL"}
        for variable, value in given.items():
            monkeypatch.setenv(variable, value)
        url, admin_url = MigrationSettings.load().addresses()
        assert url == serving["DATABASE_URL"]
        assert admin_url is not None
        assert urlsplit(admin_url).username == "postgres"
        assert urlsplit(admin_url).path == urlsplit(url).path


def test_gateways_are_sent_to_the_edge_that_knows_their_credential(place: Any) -> None:
    ingest = urlsplit(place("api")["INGEST_URL"])
    assert (ingest.hostname, ingest.port) == ("status-ingest", 8000)
    assert ingest.path == f"/webhooks/evolution/{place('status-ingest')['INGEST_TOKEN']}"


def test_only_development_lets_webhooks_into_private_networks() -> None:
    assert kubernetes_environment("notifier")["ALLOW_PRIVATE_ENDPOINTS"] == "false"
    assert compose_environment("notifier")["ALLOW_PRIVATE_ENDPOINTS"] == "true"


@pytest.mark.parametrize("where", ["kubernetes", "compose"])
def test_the_simulator_reads_what_it_is_told(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "kubernetes":
        [container] = containers_of(of_kind(assembled(LOCAL), "Deployment")[SIMULATOR])
        given = environment_of(container, CONFIG)
    else:
        given = environment_of_service(SIMULATOR)
    assert {variable.removeprefix("SIMULATOR_").lower() for variable in given} <= SimulatorSettings.model_fields.keys()
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    settings = SimulatorSettings()
    assert (settings.host, settings.port) == ("0.0.0.0", 8000)
    assert settings.public_url == f"http://{SIMULATOR}:8000"
