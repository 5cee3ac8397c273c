"""A service that is told something wrong must say which variable, and never what it held."""

import base64

import pytest
from pydantic import ValidationError

from chassis.settings import ServiceSettings, SettingsError

KEY = base64.b64encode(bytes(range(32))).decode()
COMPLETE = {
    "DATABASE_URL": "postgresql://svc:hunter2@127.0.0.1/pilot",
    "BROKER_URL": "amqp://svc:hunter2@127.0.0.1/pilot",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for field in ServiceSettings.model_fields:
        monkeypatch.delenv(field.upper(), raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_reads_the_environment_in_any_case_with_defaults(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("http_port", "8123")
    environment.setenv("LOG_LEVEL", "debug")
    environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    environment.setenv("SEAL_KEYS", "")
    settings = ServiceSettings.load()
    assert (settings.http_host, settings.http_port, settings.log_level) == ("127.0.0.1", 8123, "DEBUG")
    assert (settings.pool_size, settings.otlp_endpoint) == (10, "http://collector:4318")
    assert settings.seal_keys is None
    assert settings.database_url.get_secret_value() == COMPLETE["DATABASE_URL"]


def test_is_frozen_and_hides_secrets() -> None:
    settings = ServiceSettings.load()
    assert "hunter2" not in repr(settings)
    with pytest.raises(ValidationError):
        settings.http_port = 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DATABASE_URL", None, "DATABASE_URL is missing"),
        ("DATABASE_URL", "mysql://u:canary-value@h/d", "DATABASE_URL: expected an address like postgresql://"),
        ("BROKER_URL", "canary-value", "BROKER_URL: expected an address like amqp://"),
        ("HTTP_PORT", "canary-value", "HTTP_PORT: Input should be a valid integer"),
        ("HTTP_PORT", "70000", "HTTP_PORT: Input should be less than or equal to 65535"),
        ("LOG_LEVEL", "canary-value", "LOG_LEVEL: Input should be"),
        ("SEAL_KEYS", "k1:canary-value!", "SEAL_KEYS: key 1: not base64"),
        ("SEAL_KEYS", f"k1:{KEY},k2:{KEY[:20]}", "SEAL_KEYS: key 2: expected 32 bytes"),
        ("SEAL_PEPPER", "Y2FuYXJ5", "SEAL_PEPPER: pepper: expected at least 32 bytes"),
        ("TRACE_SAMPLE_RATIO", "2", "TRACE_SAMPLE_RATIO: Input should be less than or equal to 1"),
        ("SHUTDOWN_TIMEOUT_SECONDS", "0", "SHUTDOWN_TIMEOUT_SECONDS: Input should be greater than 0"),
    ],
)
def test_names_the_variable_but_not_its_value(
    environment: pytest.MonkeyPatch, name: str, value: str | None, told: str
) -> None:
    if value is None:
        environment.delenv(name)
    else:
        environment.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        ServiceSettings.load()
    assert told in str(raised.value)
    assert "canary-value" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_names_every_wrong_variable_at_once(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("DATABASE_URL")
    environment.setenv("POOL_SIZE", "0")
    with pytest.raises(SettingsError, match=r"DATABASE_URL is missing; POOL_SIZE: "):
        ServiceSettings.load()


def test_keys_are_read_when_asked_for_and_missed_by_name(environment: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="SEAL_KEYS is missing"):
        ServiceSettings.load().key_ring()
    with pytest.raises(SettingsError, match="SEAL_PEPPER is missing"):
        ServiceSettings.load().pepper()
    environment.setenv("SEAL_KEYS", f"k1:{KEY}")
    environment.setenv("SEAL_PEPPER", KEY)
    settings = ServiceSettings.load()
    assert settings.key_ring().active_key_id == "k1"
    assert len(settings.pepper().hash("x", purpose="p")) == 64
