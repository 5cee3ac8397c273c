"""A TCP wire to a real server that a test can cut, mute and mend, so that outages are real and need no restart."""

import asyncio
import contextlib
from enum import StrEnum
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit, urlunsplit

_CHUNK_BYTES = 65_536


class _State(StrEnum):
    WHOLE = "whole"
    CUT = "cut"
    MUTE = "mute"


class Wire:
    """Listens on loopback and forwards to `url`'s server; `url` of the wire is the same address by way of it."""

    def __init__(self, url: str, *, default_port: int) -> None:
        self._parts = urlsplit(url)
        self._target = (self._parts.hostname or "127.0.0.1", self._parts.port or default_port)
        self._state = _State.WHOLE
        self._speaking = asyncio.Event()
        self._speaking.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """What to give to the client."""
        login, at, _ = self._parts.netloc.rpartition("@")
        return urlunsplit(self._parts._replace(netloc=f"{login}{at}127.0.0.1:{self.port}"))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()

    def cut(self) -> None:
        """Reset every connection; new ones are reset at once."""
        self._state = _State.CUT
        self._speaking.set()
        for writer in tuple(self._writers):
            writer.transport.abort()

    def mute(self) -> None:
        """Connections stay, and new ones are taken, but nothing passes any more."""
        self._state = _State.MUTE
        self._speaking.clear()

    def mend(self) -> None:
        """Everything passes again, also what was held back."""
        self._state = _State.WHOLE
        self._speaking.set()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._state is _State.CUT:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(self._forward(reader, far_writer), self._forward(far_reader, writer))
        finally:
            self._writers -= {writer, far_writer}

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(_CHUNK_BYTES):
                await self._speaking.wait()
                writer.write(chunk)
                await writer.drain()
        writer.close()
