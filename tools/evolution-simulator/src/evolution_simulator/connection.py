"""Access to the TCP connection under a request, because a reset is something no HTTP answer can express."""

import asyncio
import os
import socket
import struct

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LINGER_ZERO = struct.pack("ii", 1, 0)


class ExposedConnection(HttpToolsProtocol):
    """uvicorn's HTTP protocol that lets a request see its own transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def reset(request: Request) -> None:
    """Cut the connection and return once that has happened."""
    cut(request)
    await gone(request)


def cut(request: Request) -> None:
    """Close the connection so that the peer receives RST and no byte of an answer."""
    transport: asyncio.Transport = request.state.transport
    exposed = transport.get_extra_info("socket")
    if exposed is not None and exposed.fileno() >= 0:
        with socket.socket(fileno=os.dup(exposed.fileno())) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
    transport.abort()


async def gone(request: Request) -> None:
    """Return once the connection has ended; the request's body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
