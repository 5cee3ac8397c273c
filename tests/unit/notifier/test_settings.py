"""The notifier's environment is read, bounded and named when wrong."""

import pytest

from chassis.settings import SettingsError
from notifier.settings import PAUSES_SECONDS, Settings

ADDRESSES = {"database_url": "postgresql://u@h/d", "broker_url": "amqp://h/v"}


def test_defaults() -> None:
    settings = Settings.load(**ADDRESSES)
    assert settings.webhook_retry_seconds == PAUSES_SECONDS
    assert not settings.allow_private_endpoints


def test_pauses_come_as_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_RETRY_SECONDS", "0.1, 2,30")
    assert Settings.load(**ADDRESSES).webhook_retry_seconds == (0.1, 2.0, 30.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEBHOOK_RETRY_SECONDS", "5,often"),
        ("WEBHOOK_RETRY_SECONDS", "0"),
        ("WEBHOOK_RETRY_SECONDS", ",".join(["1"] * 21)),
        ("WEBHOOK_CALLS_MAX", "0"),
        ("WEBHOOK_TIMEOUT_SECONDS", "600"),
    ],
)
def test_wrong_values_are_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        Settings.load(**ADDRESSES)


def test_a_lease_outlives_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_LEASE_SECONDS", "9")
    with pytest.raises(SettingsError, match="WEBHOOK_LEASE_SECONDS"):
        Settings.load(**ADDRESSES)
