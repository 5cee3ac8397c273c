"""Small real servers on loopback for tests of outgoing HTTP: they count connections and answer as told."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Recorder:
    """What a server saw."""

    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def serving(answer: bytes | Answer, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Recorder]:
    """Answer the first request of each connection with these bytes or this coroutine, then close."""
    recorder = Recorder()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recorder.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            recorder.requests.append(head)
            if callable(answer):
                await answer(writer)
            else:
                writer.write(answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    recorder.port = server.sockets[0].getsockname()[1]
    try:
        yield recorder
    finally:
        server.close()


def response(status: int, body: bytes = b"", *headers: bytes) -> bytes:
    """The bytes of one HTTP/1.1 answer."""
    lines = [b"HTTP/1.1 %d X" % status, b"content-length: %d" % len(body), *headers, b"", body]
    return b"\r\n".join(lines)
