"""The only place that reads the environment: what the user said about backing services, and what children inherit."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
_CONTAINERS = (
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "XDG_RUNTIME_DIR",
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Mode(StrEnum):
    """A forced way to obtain backing services (`PILOT_BACKING`)."""

    FOUND = "found"
    PRIVATE = "private"
    EMBEDDED = "embedded"


class BadSetting(ValueError):
    """Raised when a variable holds something we cannot use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackingSettings:
    """Where the user says that servers are; everything is optional."""

    mode: Mode | None = None
    postgres_url: str | None = None
    rabbitmq_url: str | None = None
    rabbitmq_management_url: str | None = None
    postgres_user: str | None = None
    postgres_password: str | None = None

    @staticmethod
    def read(environment: Mapping[str, str] | None = None) -> "BackingSettings":
        given = os.environ if environment is None else environment
        return BackingSettings(
            mode=_mode(given.get("PILOT_BACKING", "")),
            postgres_url=given.get("PILOT_POSTGRES_URL") or None,
            rabbitmq_url=given.get("PILOT_RABBITMQ_URL") or None,
            rabbitmq_management_url=given.get("PILOT_RABBITMQ_MANAGEMENT_URL") or None,
            postgres_user=given.get("PGUSER") or None,
            postgres_password=given.get("PGPASSWORD") or None,
        )


def _mode(text: str) -> Mode | None:
    try:
        return Mode(text) if text else None
    except ValueError:
        raise BadSetting(f"PILOT_BACKING must be one of {', '.join(Mode)}, not {text!r}") from None


def container_environment() -> dict[str, str]:
    """What the container client needs to find its engine."""
    return inherited_environment() | {name: os.environ[name] for name in _CONTAINERS if name in os.environ}


def inherited_environment(*, with_proxies: bool = False) -> dict[str, str]:
    """The few variables that children get from us; anything else is given to them on purpose."""
    names = (*_INHERITED, *_PROXIES) if with_proxies else _INHERITED
    return {name: os.environ[name] for name in names if name in os.environ}


def demo_once() -> bool:
    """`DEMO_ONCE=1`: the demonstration ends by itself."""
    return os.environ.get("DEMO_ONCE", "") not in ("", "0")


def executable_path() -> str:
    """The PATH to search programs on."""
    return os.environ.get("PATH", os.defpath)


def control_tool() -> str | None:
    """The installed `rabbitmqctl`, if any; system folders are often missing from an ordinary user's PATH."""
    return shutil.which("rabbitmqctl", path=f"{executable_path()}:/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin")
