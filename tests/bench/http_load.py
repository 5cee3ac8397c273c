"""A light HTTP client: on a machine that client and server share, a heavy one would measure itself."""

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlsplit

import httptools

ANSWER_SECONDS_MAX = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, and when (`time.time`, for comparison with other processes)."""

    status: int
    body: bytes
    latency_ms: float
    answered_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to post JSON."""

    url: str
    headers: Mapping[str, str]

    def request(self, body: Mapping[str, Any]) -> bytes:
        """The bytes of one POST."""
        parts = urlsplit(self.url)
        content = json.dumps(body).encode()
        given = {"host": parts.netloc, "content-type": "application/json", "content-length": str(len(content))}
        lines = [
            f"POST {parts.path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in {**given, **self.headers}.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + content


class Connection(asyncio.Protocol):
    """One kept-alive connection with one request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body = bytearray()
        self._answered: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(exc or ConnectionResetError("closed before the answer"))

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(None)

    async def post(self, request: bytes) -> Answer:
        """Send prepared bytes and wait for the whole answer."""
        assert self._transport is not None
        self._parser = httptools.HttpResponseParser(self)
        self._body.clear()
        self._answered = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        self._transport.write(request)
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            await self._answered
        return Answer(
            status=self._parser.get_status_code(),
            body=bytes(self._body),
            latency_ms=(time.perf_counter() - started) * 1_000,
            answered_at=time.time(),
        )

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def connect(target: Target) -> Connection:
    """A connection to the target's server."""
    parts = urlsplit(target.url)
    _, connection = await asyncio.get_running_loop().create_connection(
        Connection, parts.hostname or "127.0.0.1", parts.port or 80
    )
    return connection


async def load(target: Target, bodies: Iterable[Mapping[str, Any]], *, connections: int, expect: int) -> list[Answer]:
    """Post everything over that many connections at once; raises on the first answer with another status."""
    remaining = iter([target.request(body) for body in bodies])
    opened = [await connect(target) for _ in range(connections)]
    try:
        answers = await asyncio.gather(*(_work(connection, remaining, expect) for connection in opened))
    finally:
        for connection in opened:
            connection.close()
    return [answer for part in answers for answer in part]


async def load_at(
    target: Target, bodies: Iterable[Mapping[str, Any]], *, per_second: float, connections: int, expect: int
) -> list[Answer]:
    """Post at a fixed rate, whatever the answers do; latencies count from the moment a post was due."""
    requests = iter(enumerate([target.request(body) for body in bodies]))
    opened = [await connect(target) for _ in range(connections)]
    answers: list[Answer] = []
    started = time.perf_counter()

    async def work(connection: Connection) -> None:
        for number, request in requests:
            due = started + number / per_second
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            [answer] = await _work(connection, iter([request]), expect)
            answers.append(replace(answer, latency_ms=(time.perf_counter() - due) * 1_000))

    try:
        await asyncio.gather(*(work(connection) for connection in opened))
    finally:
        for connection in opened:
            connection.close()
    return answers


async def _work(connection: Connection, remaining: Iterator[bytes], expect: int) -> Sequence[Answer]:
    answers = []
    for request in remaining:
        answer = await connection.post(request)
        if answer.status != expect:
            raise RuntimeError(f"{answer.status} instead of {expect}: {answer.body[:300]!r}")
        answers.append(answer)
    return answers
