"""Customers' servers in a process of their own: one that is quick, one that hangs, one that drips."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

QUICK, HANGING, DRIPPING = "quick", "hanging", "dripping"
DRIP_SECONDS = 0.2
START_SECONDS_MAX = 30.0
_OKAY = b"HTTP/1.1 204 No Content\r\n\r\n"


@contextlib.asynccontextmanager
async def open_hook_sink() -> AsyncIterator[str]:
    """Its URL, until the end of the block."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS_MAX):
            port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after the other, each as its path says."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
            path = head.split(b" ", 2)[1].decode()
            if HANGING in path:
                await reader.read()
                break
            if DRIPPING in path:
                await _drip(writer)
            writer.write(_OKAY)
            await writer.drain()
    writer.close()


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(DRIP_SECONDS)


async def main() -> None:
    """Listen on a free port, and say which."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1_000)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
