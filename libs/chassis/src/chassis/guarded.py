"""Calls addresses that customers chose without becoming their way into our network."""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import StrEnum
from ipaddress import IPv4Address, ip_address
from typing import Final

import httpcore
import httpx

from chassis.addresses import is_allowed
from chassis.http_client import Timeouts, connection_limits, create_client, tls_context

URL_LENGTH_MAX: Final = 2048
_HOST_LENGTH_MAX: Final = 253
_PORTS: Final = frozenset({443, 8443})
_PORTS_IN_DEVELOPMENT: Final = range(1, 65536)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ADDRESSES_TRIED_MAX: Final = 3
_RESOLVE_TIMEOUT_SECONDS: Final = 5.0
_FORBIDDEN_CHARACTERS: Final = re.compile(r"[\x00-\x20\x7f\\]")
_NUMBER_LIKE: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_HOST: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class Reason(StrEnum):
    """Why a target is refused; the value is a sentence for the customer and tells nothing about our network."""

    MALFORMED = "the URL is not well formed"
    TOO_LONG = "the URL is longer than 2048 characters"
    SCHEME = "the URL must start with https://"
    USER_INFO = "the URL must not hold a user name or password"
    PORT = "only the ports 443 and 8443 are allowed"
    HOST = "the host must be a full domain name or a plain public IP address"
    ADDRESS = "the host is not a public address"
    UNRESOLVED = "the host name cannot be resolved"


class ForbiddenTargetError(Exception):
    """The target must not be called."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def check_url(url: str | httpx.URL, *, allow_private: bool = False) -> httpx.URL:
    """Judge without the network; raises `ForbiddenTargetError`. Development also allows http and any port."""
    text = str(url)
    if len(text) > URL_LENGTH_MAX:
        raise ForbiddenTargetError(Reason.TOO_LONG)
    if _FORBIDDEN_CHARACTERS.search(text):
        raise ForbiddenTargetError(Reason.MALFORMED)
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise ForbiddenTargetError(Reason.MALFORMED) from None
    if parsed.scheme != "https" and not (allow_private and parsed.scheme == "http"):
        raise ForbiddenTargetError(Reason.SCHEME)
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise ForbiddenTargetError(Reason.USER_INFO)
    if port_of(parsed) not in (_PORTS_IN_DEVELOPMENT if allow_private else _PORTS):
        raise ForbiddenTargetError(Reason.PORT)
    _check_host(parsed.raw_host.decode("ascii", "replace").lower(), allow_private=allow_private)
    return parsed


async def check_target(url: str, *, allow_private: bool = False, resolve: Resolve | None = None) -> httpx.URL:
    """`check_url`, then every address the name resolves to now; raises `ForbiddenTargetError`."""
    parsed = check_url(url, allow_private=allow_private)
    await _allowed_addresses(
        parsed.raw_host.decode("ascii"), port_of(parsed), resolve or resolve_by_system, allow_private=allow_private
    )
    return parsed


def guarded_client(
    *,
    allow_private: bool = False,
    timeouts: Timeouts | None = None,
    connections_max: int = 100,
    resolve: Resolve | None = None,
    tls: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """A client that checks URL and addresses at every request and dials exactly the address it checked.

    Raises `ForbiddenTargetError` besides what httpx raises. No redirects, no proxies, no reuse of connections.
    """
    transport = GuardedTransport(
        allow_private=allow_private,
        connections_max=connections_max,
        resolve=resolve or resolve_by_system,
        tls=tls or tls_context(),
    )
    return create_client(timeouts=timeouts, keep_alive=False, transport=transport)


class GuardedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over a pool that connects through `PinnedBackend`."""

    def __init__(self, *, allow_private: bool, connections_max: int, resolve: Resolve, tls: ssl.SSLContext) -> None:
        limits = connection_limits(connections_max=connections_max, keep_alive=False)
        super().__init__(verify=tls, trust_env=False, limits=limits)
        self._allow_private = allow_private
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            network_backend=PinnedBackend(resolve, allow_private=allow_private),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        check_url(request.url, allow_private=self._allow_private)
        return await super().handle_async_request(request)


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Resolves, refuses if any address is forbidden, and dials one of the checked addresses; TLS keeps the name."""

    def __init__(self, resolve: Resolve, *, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await _allowed_addresses(host, port, self._resolve, allow_private=self._allow_private)
        failure: Exception = httpcore.ConnectError("no address answered")
        for address in addresses[:_ADDRESSES_TRIED_MAX]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """The addresses the system's resolver gives for a name, in its order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def port_of(url: httpx.URL) -> int:
    """The port a URL means."""
    return url.port if url.port is not None else _DEFAULT_PORTS.get(url.scheme, 0)


async def _allowed_addresses(host: str, port: int, resolve: Resolve, *, allow_private: bool) -> Sequence[str]:
    try:
        async with asyncio.timeout(_RESOLVE_TIMEOUT_SECONDS):
            addresses = await resolve(host.strip("[]"), port)
    except (OSError, UnicodeError, TimeoutError):
        raise ForbiddenTargetError(Reason.UNRESOLVED) from None
    if not addresses:
        raise ForbiddenTargetError(Reason.UNRESOLVED)
    if not all(is_allowed(address, allow_private=allow_private) for address in addresses):
        raise ForbiddenTargetError(Reason.ADDRESS)
    return addresses


def _check_host(host: str, *, allow_private: bool) -> None:
    if not host or len(host) > _HOST_LENGTH_MAX:
        raise ForbiddenTargetError(Reason.HOST)
    literal = _literal(host.strip("[]"))
    if literal is not None:
        if not is_allowed(literal, allow_private=allow_private):
            raise ForbiddenTargetError(Reason.ADDRESS)
        return
    labels = host.rstrip(".").split(".")
    if not _HOST.fullmatch(host) or _NUMBER_LIKE.fullmatch(labels[-1]):
        raise ForbiddenTargetError(Reason.HOST)
    if len(labels) == 1 and not allow_private:
        raise ForbiddenTargetError(Reason.HOST)


def _literal(host: str) -> str | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return host if isinstance(address, IPv4Address) or ":" in host else None
