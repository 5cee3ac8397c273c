"""The one way to call other HTTP servers: every wait and every size bounded, nothing taken from the environment."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import httpx

BODY_BYTES_MAX: Final = 1024 * 1024
_USER_AGENT: Final = "pilot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds for each wait of one call; `read_seconds` is between two pieces of the answer."""

    connect_seconds: float = 2.0
    read_seconds: float = 10.0
    write_seconds: float = 5.0
    pool_seconds: float = 2.0

    def for_httpx(self) -> httpx.Timeout:
        """The same for httpx."""
        return httpx.Timeout(
            connect=self.connect_seconds, read=self.read_seconds, write=self.write_seconds, pool=self.pool_seconds
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with at most the asked-for bytes of its body."""

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(repr=False)
    truncated: bool = False


def create_client(
    *,
    timeouts: Timeouts | None = None,
    connections_max: int = 100,
    keep_alive: bool = True,
    base_url: str = "",
    headers: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """A client that follows no redirect, uses no proxy of the environment and asks for no compression."""
    return httpx.AsyncClient(
        base_url=base_url,
        timeout=(timeouts or Timeouts()).for_httpx(),
        limits=connection_limits(connections_max=connections_max, keep_alive=keep_alive),
        headers={"user-agent": _USER_AGENT, "accept-encoding": "identity", **(headers or {})},
        follow_redirects=False,
        trust_env=False,
        verify=tls_context(),
        transport=transport,
    )


def connection_limits(*, connections_max: int, keep_alive: bool) -> httpx.Limits:
    """`keep_alive=False` gives every request its own connection, so none is lost to a stale one."""
    return httpx.Limits(
        max_connections=connections_max,
        max_keepalive_connections=connections_max if keep_alive else 0,
        keepalive_expiry=15.0,
    )


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Certificate authorities are read once per process: it takes tens of milliseconds."""
    return httpx.create_ssl_context(trust_env=False)


async def send_bounded(
    client: httpx.AsyncClient,
    request: httpx.Request,
    *,
    timeout_seconds: float,
    body_bytes_max: int = BODY_BYTES_MAX,
) -> Reply:
    """Send and read the answer, at most `body_bytes_max` of it, in `timeout_seconds` all told.

    Raises `httpx.HTTPError` for network trouble and `TimeoutError` when the time is up, however slowly bytes drip.
    """
    async with asyncio.timeout(timeout_seconds):
        response = await client.send(request, stream=True)
        try:
            body, truncated = await _read(response, body_bytes_max)
        finally:
            await response.aclose()
    return Reply(status=response.status_code, headers=response.headers, body=body, truncated=truncated)


async def _read(response: httpx.Response, body_bytes_max: int) -> tuple[bytes, bool]:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > body_bytes_max:
            return bytes(body[:body_bytes_max]), True
    return bytes(body), False
