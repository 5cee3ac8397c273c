"""The contract between this tool and the services: which service is told what through its environment."""

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from local_stack.ports import free_port
from local_stack.settings import inherited_environment
from local_stack.workspace import Workspace


def _random_base64() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode("ascii")


class Service(StrEnum):
    """The five services by package name, which is also the name of their Postgres schema; in order of starting."""

    API = "api"
    DISPATCHER = "dispatcher"
    STATUS_INGEST = "status_ingest"
    NOTIFIER = "notifier"
    RECONCILER = "reconciler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Made up for one run; nothing outlives it."""

    seal_keys: str = field(repr=False, default_factory=lambda: f"k1:{_random_base64()}")
    seal_pepper: str = field(repr=False, default_factory=_random_base64)
    operator_key: str = field(repr=False, default_factory=lambda: f"operator-{secrets.token_urlsafe(24)}")
    ingest_token: str = field(repr=False, default_factory=lambda: secrets.token_urlsafe(24))
    gateway_key: str = field(repr=False, default_factory=lambda: secrets.token_urlsafe(24))
    database_passwords: Mapping[Service, str] = field(
        repr=False, default_factory=lambda: {service: secrets.token_urlsafe(24) for service in Service}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where each service and the gateway simulator listen on loopback."""

    services: Mapping[Service, int] = field(default_factory=lambda: {service: free_port() for service in Service})
    gateway: int = field(default_factory=free_port)

    def url(self, service: Service) -> str:
        return f"http://127.0.0.1:{self.services[service]}"

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway}"


def service_environment(
    service: Service, *, workspace: Workspace, ports: Ports, credentials: Credentials, port: int | None = None
) -> dict[str, str]:
    """Everything a service needs to serve; `port` is given for a further replica."""
    shared = {
        "DATABASE_URL": workspace.database_url(service, credentials.database_passwords[service]),
        "BROKER_URL": workspace.broker_url,
        "HTTP_HOST": "127.0.0.1",
        "HTTP_PORT": str(port or ports.services[service]),
        "SEAL_KEYS": credentials.seal_keys,
        "SEAL_PEPPER": credentials.seal_pepper,
    }
    own = _own_environment(service, ports=ports, credentials=credentials)
    return inherited_environment() | {"PYTHONUNBUFFERED": "1"} | shared | own


def migration_environment(
    service: Service, *, workspace: Workspace, ports: Ports, credentials: Credentials
) -> dict[str, str]:
    """To serve and, for once, an administrator's address: it creates the service's role and schema."""
    serving = service_environment(service, workspace=workspace, ports=ports, credentials=credentials)
    return serving | {"DATABASE_ADMIN_URL": workspace.database_admin_url}


def ingest_url(ports: Ports, credentials: Credentials) -> str:
    """Where the gateway posts its webhooks, credential included."""
    return f"{ports.url(Service.STATUS_INGEST)}/webhooks/evolution/{credentials.ingest_token}"


def _own_environment(service: Service, *, ports: Ports, credentials: Credentials) -> dict[str, str]:
    match service:
        case Service.API:
            return {
                "OPERATOR_KEY": credentials.operator_key,
                "INGEST_URL": ingest_url(ports, credentials),
                "GATEWAY_URL": ports.gateway_url,
                "GATEWAY_API_KEY": credentials.gateway_key,
            }
        case Service.STATUS_INGEST:
            return {"INGEST_TOKEN": credentials.ingest_token}
        case Service.NOTIFIER:
            return {"ALLOW_PRIVATE_ENDPOINTS": "true"}
        case Service.RECONCILER:
            return {"MESSAGE_RECONCILER_INTERVAL_MS": "2000"}
        case Service.DISPATCHER:
            return {}
    assert_never(service)
