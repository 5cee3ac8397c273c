"""A customer's endpoint that costs next to nothing, so that the bench measures the platform and not its audience."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from chassis.web import WebServer

EVENT = b"message.read"


class WebhookSink:
    """Counts messages whose `message.read` has come, each once."""

    def __init__(self) -> None:
        self.url = ""
        self._read: set[str] = set()
        self._grown = asyncio.Event()

    def forget(self) -> None:
        """Begin at zero."""
        self._read.clear()

    async def until_read(self, count: int) -> None:
        """Return when that many messages have been reported as read."""
        while len(self._read) < count:
            self._grown.clear()
            await self._grown.wait()

    async def take(self, request: Request) -> Response:
        """Any POST is welcome; repeats have the same id."""
        if EVENT in await request.body():
            self._read.add(request.headers.get("webhook-id", ""))
            self._grown.set()
        return Response(status_code=204)


@contextlib.asynccontextmanager
async def open_sink() -> AsyncIterator[WebhookSink]:
    """Listening on loopback, in this process."""
    sink, app = WebhookSink(), FastAPI()
    app.add_route("/hooks/{endpoint}", sink.take, methods=["POST"])
    server = WebServer(app, host="127.0.0.1", port=0)
    await server.start()
    sink.url = f"http://127.0.0.1:{server.port}/hooks"
    try:
        yield sink
    finally:
        await server.stop()
