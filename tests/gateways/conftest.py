"""A scripted HTTP peer on a real socket: what a gateway may do to a connection, done to ours."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import pytest

from gateways.port import Access

KEY = "TEST-KEY-ONLY"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRequest:
    """One request as it arrived; `connection` numbers the TCP connection it came on."""

    connection: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Mapping[str, object]:
        """The body parsed."""
        loaded: Mapping[str, object] = json.loads(self.body)
        return loaded


Behaviour = Callable[[SeenRequest, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class ScriptedGateway:
    """Answers each request with the next behaviour of its script; the last one repeats."""

    script: list[Behaviour] = field(default_factory=list)
    seen: list[SeenRequest] = field(default_factory=list)
    connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    base_url: str = ""

    def access(self, instance: str = "shop") -> Access:
        """Where this gateway is found."""
        return Access(base_url=self.base_url, api_key=KEY, instance=instance)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request after the other from a connection, as a keep-alive server does."""
        self.connections += 1
        connection = self.connections
        try:
            while (request := await _read_request(reader, connection)) is not None:
                self.seen.append(request)
                self.arrived.set()
                behave = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                await behave(request, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


def answer(status: int, body: object, *, headers: Mapping[str, str] | None = None) -> Behaviour:
    """A complete answer with a JSON body, or raw bytes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def behave(_: SeenRequest, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}", "connection: keep-alive"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        await writer.drain()

    return behave


def raw_then_reset(data: bytes) -> Behaviour:
    """Write `data`, wait until it is out, then reset the connection."""

    async def behave(_: SeenRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    return behave


def raw_then_hang(data: bytes = b"") -> Behaviour:
    """Write `data`, then keep the connection open in silence until the other side leaves."""

    async def behave(_: SeenRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def drip() -> Behaviour:
    """Begin an answer and never end its headers, a line at a time."""

    async def behave(_: SeenRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 201 Created\r\n")
        while True:
            writer.write(b"x-drip: 1\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    return behave


@pytest.fixture
async def gateway() -> AsyncIterator[ScriptedGateway]:
    scripted = ScriptedGateway()
    connections: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        await scripted.serve(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    scripted.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield scripted
    server.close()
    for task in connections:
        task.cancel()
    await asyncio.gather(*connections, return_exceptions=True)
    await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader, connection: int) -> SeenRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return SeenRequest(connection=connection, method=method, target=target, headers=headers, body=body)
