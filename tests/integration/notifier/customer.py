"""A customer's web server: real HTTP on loopback, answering by script."""

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the customer's server does with a request; `hang` keeps the connection open without a word.

    `drip` sends the "head", or the "body", byte after byte without an end.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    hang: bool = False
    endless: bool = False
    drip: str = ""


class Customer:
    """A real HTTP server. `replies` holds a script per path; its last entry repeats."""

    reply = Reply

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.replies: dict[str, list[Reply]] = {}
        self.connections = 0
        self.most_at_once: dict[str, int] = {}
        self._at_once: dict[str, int] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, *, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    def url(self, path: str = "/hook") -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{path}"

    def at(self, path: str) -> list[Received]:
        return [request for request in self.received if request.path == path]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            request = await self._read(reader)
            path = request.path
            self._at_once[path] = self._at_once.get(path, 0) + 1
            self.most_at_once[path] = max(self.most_at_once.get(path, 0), self._at_once[path])
            self.received.append(request)
            script = self.replies.get(path) or [Reply()]
            reply = script.pop(0) if len(script) > 1 else script[0]
            await self._answer(reader, writer, reply)
            self._at_once[path] -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Received:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Received(method=method, path=path, headers=headers, body=body)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
        if reply.hang:
            await reader.read()
            return
        if reply.drip:
            await self._drip(writer, reply)
            return
        length = len(reply.body)
        lines = [f"HTTP/1.1 {reply.status} Whatever", *(f"{name}: {value}" for name, value in reply.headers.items())]
        lines += ["connection: close"] if reply.endless else [f"content-length: {length}", "connection: close"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + reply.body)
        while reply.endless:
            writer.write(b"x" * 4_096)
            await writer.drain()
        await writer.drain()

    async def _drip(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        head = f"HTTP/1.1 {reply.status} Whatever\r\ncontent-length: 100000\r\n"
        writer.write(head.encode() + (b"\r\n" if reply.drip == "body" else b"x-slow: "))
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)
