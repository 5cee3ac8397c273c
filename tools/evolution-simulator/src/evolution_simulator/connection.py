"""Access to the TCP connection under a request, because a reset is something no HTTP answer can express."""

import asyncio
import os
import socket
import struct
from dataclasses import dataclass

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LINGER_ZERO = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Gate:
    """How many of the next connections are cut before their request is understood."""

    to_cut: int = 0

    def cuts(self) -> bool:
        """Whether the connection that has just been made is one of them."""
        is_cut = self.to_cut > 0
        self.to_cut -= is_cut
        return is_cut


class ExposedConnection(HttpToolsProtocol):
    """uvicorn's HTTP protocol that lets a request see its own transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}
        gate: Gate | None = self.app_state.get("gate")
        self._is_cut = gate is not None and gate.cuts()

    def data_received(self, data: bytes) -> None:
        """A connection that is to be cut ends with its first bytes: nobody learns what they were about."""
        if self._is_cut:
            reset_transport(self.transport)
        else:
            super().data_received(data)


async def reset(request: Request) -> None:
    """Cut the connection and return once that has happened."""
    cut(request)
    await gone(request)


def cut(request: Request) -> None:
    """Close the connection so that the peer receives RST and no byte of an answer."""
    reset_transport(request.state.transport)


def reset_transport(transport: asyncio.Transport) -> None:
    """RST instead of an orderly end."""
    exposed = transport.get_extra_info("socket")
    if exposed is not None and exposed.fileno() >= 0:
        with socket.socket(fileno=os.dup(exposed.fileno())) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
    transport.abort()


async def close(request: Request, partial: bytes = b"") -> None:
    """End the connection in good order, after `partial` of an answer, and return once that has happened."""
    transport: asyncio.Transport = request.state.transport
    if partial:
        transport.write(partial)
    transport.close()
    await gone(request)


async def gone(request: Request) -> None:
    """Return once the connection has ended; the request's body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
