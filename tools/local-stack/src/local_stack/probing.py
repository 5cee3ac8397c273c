"""Looks at servers that already run: at an address somebody gave us, or on the standard local ports."""

import getpass
from pathlib import Path
from urllib.parse import quote, urlsplit

from local_stack.choice import RabbitMQSeen, postgres_flaw, rabbitmq_flaw
from local_stack.databases import look_at
from local_stack.ports import answers
from local_stack.settings import BackingSettings, control_tool, inherited_environment
from local_stack.vhosts import Broker, ControlTool, ManagementApi, VhostAdmin, broker_version, login_of

_POSTGRES_PORT, _RABBITMQ_PORT, _MANAGEMENT_PORT = 5432, 5672, 15672
_SOCKET_FOLDERS = ("/var/run/postgresql", "/tmp")  # noqa: S108 - where distributions and source builds put the socket
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NotUsable(RuntimeError):
    """Raised with the reason why a server cannot serve as backing service."""


def check_postgres(url: str) -> str:
    """The same address, if we may create databases and roles there."""
    try:
        seen = look_at(url)
    except Exception as error:
        raise NotUsable(f"no login to PostgreSQL: {type(error).__name__}") from error
    flaw = postgres_flaw(seen)
    if flaw:
        raise NotUsable(f"PostgreSQL: {flaw}")
    return url


def running_postgres(settings: BackingSettings) -> str:
    """An administrative address of the server on the standard port."""
    if not answers("127.0.0.1", _POSTGRES_PORT):
        raise NotUsable(f"nothing listens on 127.0.0.1:{_POSTGRES_PORT}")
    reasons: list[str] = []
    for url in _postgres_addresses(settings):
        try:
            return check_postgres(url)
        except NotUsable as reason:
            reasons.append(str(reason))
    raise NotUsable("; ".join(dict.fromkeys(reasons)))


def _postgres_addresses(settings: BackingSettings) -> list[str]:
    users = dict.fromkeys(user for user in (settings.postgres_user, "postgres", getpass.getuser()) if user)
    password = f":{quote(settings.postgres_password, safe='')}" if settings.postgres_password else ""
    by_tcp = [f"postgresql://{quote(user)}{password}@127.0.0.1:{_POSTGRES_PORT}/postgres" for user in users]
    by_socket = [
        f"postgresql://{quote(user)}@/postgres?host={folder}"
        for folder in _SOCKET_FOLDERS
        if Path(folder, f".s.PGSQL.{_POSTGRES_PORT}").exists()
        for user in users
    ]
    return by_tcp + by_socket


def check_rabbitmq(url: str, management_url: str | None = None) -> Broker:
    """The broker at this address, if it lets us create virtual hosts."""
    try:
        version = broker_version(url)
    except Exception as error:
        raise NotUsable(f"no login to RabbitMQ: {type(error).__name__}") from error
    address, user, password = login_of(url)
    api, tool = _administration(url, management_url)
    flaw = rabbitmq_flaw(RabbitMQSeen(version=version, may_create_vhosts=api is not None or tool is not None))
    admin: VhostAdmin | None = api or tool
    if flaw or admin is None:
        raise NotUsable(f"RabbitMQ: {flaw}")
    return Broker(
        address=address, user=user, password=password, admin=admin, management_url=api.url if api is not None else None
    )


def running_rabbitmq() -> Broker:
    """The broker on the standard port, with its factory login."""
    if not answers("127.0.0.1", _RABBITMQ_PORT):
        raise NotUsable(f"nothing listens on 127.0.0.1:{_RABBITMQ_PORT}")
    return check_rabbitmq(f"amqp://guest:guest@127.0.0.1:{_RABBITMQ_PORT}/")


def _administration(url: str, management_url: str | None) -> tuple[ManagementApi | None, ControlTool | None]:
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port or _RABBITMQ_PORT
    _, user, password = login_of(url)
    if management_url or answers(host, _MANAGEMENT_PORT):
        api = ManagementApi(url=management_url or f"http://{host}:{_MANAGEMENT_PORT}", user=user, password=password)
        if api.may_administer():
            return api, None
    program = control_tool()
    if program and host in _LOOPBACK:
        tool = ControlTool(argv=[program], environment=inherited_environment())
        if tool.administers_port(port):
            return None, tool
    return None, None
