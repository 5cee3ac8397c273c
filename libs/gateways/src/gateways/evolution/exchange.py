"""The one way to talk HTTP with Evolution: bounded in time and bytes, no connection reused, no redirect followed."""

import asyncio
import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from gateways.evolution.reply import Reply
from gateways.port import Access

_HEADER_VALUE = re.compile(r"[\x21-\x7e]{1,512}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Bounds of the calls. A send's read bound grows by its typing delay; the others are short and whole.

    The gateway fetches, converts and uploads a file before it answers, hence the bounds of their own.
    """

    connect_seconds: float = 2.0
    write_seconds: float = 5.0
    read_seconds: float = 20.0
    media_write_seconds: float = 30.0
    media_read_seconds: float = 60.0
    presence_seconds_min: float = 2.0
    presence_seconds_max: float = 5.0
    query_seconds: float = 10.0

    def per_step(self, *, read_seconds: float, write_seconds: float | None = None) -> httpx.Timeout:
        """The bounds of the single steps of one call."""
        return httpx.Timeout(
            connect=self.connect_seconds,
            write=write_seconds or self.write_seconds,
            read=read_seconds,
            pool=self.connect_seconds,
        )

    def whole(self, *, read_seconds: float, write_seconds: float | None = None) -> float:
        """The bound of a whole call: a server that drips its answer cannot stretch it."""
        return self.connect_seconds + (write_seconds or self.write_seconds) + read_seconds


class AddressUnusableError(Exception):
    """An instance's address or key cannot be put into a request, so nothing can have been sent."""


class CallFailedError(Exception):
    """A query got no answer; the text is the name of the failure, nothing of the call."""


class EvolutionClient:
    """Owns the connections of one adapter: share one per process and close it. `transport` replaces the network."""

    def __init__(
        self,
        *,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        connections_max: int = 20,
    ) -> None:
        self._timeouts = timeouts or Timeouts()
        # A fresh connection per call: Node closes idle ones after 5 s, which would race a POST.
        limits = httpx.Limits(max_connections=connections_max, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(transport=transport, limits=limits, trust_env=False, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close what is still open."""
        await self._client.aclose()

    async def _exchange(
        self, request: httpx.Request, *, read_seconds: float, body_bytes_max: int, write_seconds: float | None = None
    ) -> Reply:
        """One call; raises httpx's errors and TimeoutError, which `evidence.judge_failure` understands."""
        steps = self._timeouts.per_step(read_seconds=read_seconds, write_seconds=write_seconds)
        request.extensions["timeout"] = steps.as_dict()
        async with asyncio.timeout(self._timeouts.whole(read_seconds=read_seconds, write_seconds=write_seconds)):
            response = await self._client.send(request, stream=True)
            try:
                return await _read(response, body_bytes_max)
            finally:
                await response.aclose()

    async def _query(self, request: httpx.Request, *, body_bytes_max: int) -> Reply:
        """A call that sends no message, within the time of a query; raises `CallFailedError`."""
        try:
            return await self._exchange(
                request, read_seconds=self._timeouts.query_seconds, body_bytes_max=body_bytes_max
            )
        except (httpx.HTTPError, TimeoutError) as error:
            raise CallFailedError(type(error).__name__) from None


def build_request(
    access: Access,
    method: str,
    *path: str,
    body: Mapping[str, object] | None = None,
    params: Mapping[str, str] | None = None,
) -> httpx.Request:
    """A request to `path` below the instance's address; raises `AddressUnusableError`, and ValueError for bad text."""
    content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    if _HEADER_VALUE.fullmatch(access.api_key) is None:
        raise AddressUnusableError("the key is not a header value")
    headers = {"apikey": access.api_key, "accept": "application/json", "accept-encoding": "identity"}
    if content is not None:
        headers["content-type"] = "application/json"
    url = _url(access.base_url, path)
    return httpx.Request(method, url, params=params, headers=headers, content=content)


async def _read(response: httpx.Response, body_bytes_max: int) -> Reply:
    """What arrives of an answer: its status and first bytes stay evidence when the rest is too long or gets lost."""
    body = bytearray()
    complete = False
    with contextlib.suppress(httpx.TransportError):
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > body_bytes_max:
                break
        else:
            complete = True
    return Reply(
        status=response.status_code,
        body=bytes(body[:body_bytes_max]),
        complete=complete,
        retry_after=response.headers.get("retry-after"),
    )


def _url(base_url: str, path: tuple[str, ...]) -> httpx.URL:
    try:
        base = httpx.URL(base_url)
        prefix = base.raw_path.split(b"?", 1)[0].decode("ascii").rstrip("/")
        if base.scheme not in ("http", "https") or not base.host or any(part in ("", ".", "..") for part in path):
            raise AddressUnusableError("the address is not an http address or the instance has no usable name")
        # A query string would outlive the guards: Evolution lets `?instanceName=` redirect a call to another instance.
        raw_path = ("/".join((prefix, *(quote(part, safe="") for part in path))) or "/").encode("ascii")
        return base.copy_with(raw_path=raw_path, fragment=None, userinfo=b"")
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise AddressUnusableError("the address is not a usable URL") from error
