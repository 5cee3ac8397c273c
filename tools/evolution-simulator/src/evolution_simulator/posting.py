"""A small HTTP/1.1 POST client: the general ones cost so much per call that they would slow down what is measured."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import cast
from urllib.parse import SplitResult, urlsplit

import httptools

IDLE_SECONDS_MAX = 2.0
ANSWER_BYTES_MAX = 1024 * 1024


class Connection(asyncio.Protocol):
    """One TCP connection that carries one request at a time; only the status of an answer is kept."""

    def __init__(self) -> None:
        self.usable = True
        self.idle_since = 0.0
        self._transport: asyncio.Transport
        self._parser: httptools.HttpResponseParser
        self._answer: asyncio.Future[int] | None = None
        self._bytes_seen = 0
        self._headers_complete = self._framed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    async def exchange(self, request: bytes) -> int:
        """Send a request and return the status; ConnectionError if no readable answer comes."""
        self._parser = httptools.HttpResponseParser(self)
        self._answer = asyncio.get_running_loop().create_future()
        self._bytes_seen = 0
        self._headers_complete = self._framed = False
        self._transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._bytes_seen += len(data)
        if self._answer is None or self._answer.done() or self._bytes_seen > ANSWER_BYTES_MAX:
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.abort()

    def on_headers_complete(self) -> None:
        self._headers_complete = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._framed = self._framed or name.lower() in (b"content-length", b"transfer-encoding")

    def on_message_complete(self) -> None:
        self._settle(self._parser.get_status_code())

    def eof_received(self) -> None:
        """The end of the connection is the end of an answer that gave no length."""
        self.usable = False
        if self._headers_complete and not self._framed:
            self._settle(self._parser.get_status_code())

    def _settle(self, status: int) -> None:
        if status >= 200 and self._answer is not None and not self._answer.done():
            self.usable = self.usable and self._parser.should_keep_alive()
            self._answer.set_result(status)

    def connection_lost(self, failure: Exception | None) -> None:
        self.usable = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("no answer"))

    def abort(self) -> None:
        self.usable = False
        self._transport.abort()


class Poster:
    """POSTs over kept-alive connections, a bounded number at a time."""

    def __init__(self, *, connections_max: int, timeout_seconds: float) -> None:
        self._slots = asyncio.Semaphore(connections_max)
        self._timeout_seconds = timeout_seconds
        self._idle: dict[tuple[str, str], list[Connection]] = defaultdict(list)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Return the status; raises OSError (TimeoutError, ConnectionError) or ValueError for an impossible URL."""
        target = urlsplit(url)
        request = _request(target, headers, body)
        async with self._slots, asyncio.timeout(self._timeout_seconds):
            kept = self._kept(target)
            if kept is not None:
                with suppress(ConnectionError):
                    return await self._exchange(target, kept, request)
            return await self._exchange(target, await _connect(target), request)

    def close(self) -> None:
        for connections in self._idle.values():
            for connection in connections:
                connection.abort()
        self._idle.clear()

    def _kept(self, target: SplitResult) -> Connection | None:
        idle = self._idle[target.scheme, target.netloc]
        while idle:
            connection = idle.pop()
            if connection.usable and time.monotonic() - connection.idle_since < IDLE_SECONDS_MAX:
                return connection
            connection.abort()
        return None

    async def _exchange(self, target: SplitResult, connection: Connection, request: bytes) -> int:
        try:
            status = await connection.exchange(request)
        except BaseException:
            connection.abort()
            raise
        if connection.usable:
            connection.idle_since = time.monotonic()
            self._idle[target.scheme, target.netloc].append(connection)
        else:
            connection.abort()
        return status


async def _connect(target: SplitResult) -> Connection:
    secure = target.scheme == "https"
    if not target.hostname:
        raise ValueError("a URL without a host")
    port = target.port or (443 if secure else 80)
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, target.hostname, port, ssl=secure or None)
    return connection


def _request(target: SplitResult, headers: Mapping[str, str], body: bytes) -> bytes:
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    host = target.netloc.rpartition("@")[2]
    fields = {"host": host, **headers, "content-length": str(len(body)), "connection": "keep-alive"}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a line break inside a header")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
