"""Creates and deletes the virtual hosts that a run calls its own, by whichever administration door is open."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

import aiormq
import httpx
from aiormq.abc import AbstractConnection

from local_stack.blocking import run_blocking

_CONTROL_SECONDS = 60.0
_HTTP_SECONDS = 15.0


class VhostRefused(RuntimeError):
    """Raised when the broker would not create or delete a virtual host."""


class VhostAdmin(Protocol):
    """Who may create virtual hosts."""

    def create(self, vhost: str, user: str) -> None: ...

    def delete(self, vhost: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementApi:
    """The management plugin's HTTP API at `url`, for instance http://127.0.0.1:15672."""

    url: str
    user: str
    password: str = field(repr=False)

    def may_administer(self) -> bool:
        try:
            answer = self._call("GET", "/api/whoami")
            return answer.status_code == 200 and "administrator" in answer.json().get("tags", "")
        except (httpx.HTTPError, ValueError):
            return False

    def create(self, vhost: str, user: str) -> None:
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        self._must("PUT", f"/api/vhosts/{quote(vhost, safe='')}", {})
        self._must("PUT", f"/api/permissions/{quote(vhost, safe='')}/{quote(user, safe='')}", everything)

    def delete(self, vhost: str) -> None:
        answer = self._call("DELETE", f"/api/vhosts/{quote(vhost, safe='')}")
        if answer.status_code not in (204, 404):
            raise VhostRefused(f"DELETE virtual host: HTTP {answer.status_code}")

    def _must(self, method: str, path: str, body: Mapping[str, str]) -> None:
        answer = self._call(method, path, body)
        if answer.status_code not in (200, 201, 204):
            raise VhostRefused(f"{method} {path}: HTTP {answer.status_code}")

    def _call(self, method: str, path: str, body: Mapping[str, str] | None = None) -> httpx.Response:
        with httpx.Client(auth=(self.user, self.password), timeout=_HTTP_SECONDS, trust_env=False) as client:
            return client.request(method, f"{self.url}{path}", json=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTool:
    """`rabbitmqctl`, which needs the node's Erlang cookie and therefore works for the broker's own user or root."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)

    def administers_port(self, port: int) -> bool:
        """Whether the node that this tool reaches is the one that listens for AMQP on `port`."""
        try:
            status = json.loads(self._call("status", "--formatter", "json"))
        except (VhostRefused, ValueError):
            return False
        return any(listener["protocol"] == "amqp" and listener["port"] == port for listener in status["listeners"])

    def create(self, vhost: str, user: str) -> None:
        self._call("add_vhost", vhost)
        self._call("set_permissions", "-p", vhost, user, ".*", ".*", ".*")

    def delete(self, vhost: str) -> None:
        if vhost in self._call("list_vhosts", "name").split():
            self._call("delete_vhost", vhost)

    def _call(self, *arguments: str) -> str:
        try:
            answer = subprocess.run(
                [*self.argv, "-q", *arguments],
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_CONTROL_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise VhostRefused(f"rabbitmqctl {arguments[0]}: {type(error).__name__}") from error
        if answer.returncode != 0:
            raise VhostRefused(f"rabbitmqctl {arguments[0]}: {answer.stderr.strip()[-400:]}")
        return answer.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A running RabbitMQ on which we may create virtual hosts."""

    address: str
    user: str
    password: str = field(repr=False)
    admin: VhostAdmin
    management_url: str | None = None

    def url(self, vhost: str) -> str:
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"amqp://{login}@{self.address}/{quote(vhost, safe='')}"

    def create_vhost(self, vhost: str) -> None:
        self.admin.create(vhost, self.user)

    def delete_vhost(self, vhost: str) -> None:
        self.admin.delete(vhost)


def login_of(amqp_url: str) -> tuple[str, str, str]:
    """(host:port, user, password) of an AMQP address."""
    parts = urlsplit(amqp_url)
    address = f"{parts.hostname or '127.0.0.1'}:{parts.port or 5672}"
    return address, unquote(parts.username or "guest"), unquote(parts.password or "guest")


def broker_version(amqp_url: str) -> tuple[int, int]:
    """Log in and read the version the broker states; raises what the client raises when that fails."""
    return run_blocking(_broker_version(amqp_url), timeout_seconds=10)


async def _broker_version(amqp_url: str) -> tuple[int, int]:
    connection: AbstractConnection = await aiormq.connect(amqp_url)
    try:
        stated = connection.server_properties.get("version", "")
    finally:
        await connection.close()
    text = stated.decode() if isinstance(stated, bytes) else str(stated)
    version = re.match(r"(\d+)\.(\d+)", text)
    return (int(version.group(1)), int(version.group(2))) if version else (0, 0)
