"""Stands up a service's HTTP side: one way to build the application, one stage that listens and stops cleanly."""

import asyncio
import contextlib
import math
import socket
from collections.abc import Iterator, Sequence
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from starlette.middleware import Middleware

from chassis import problems
from chassis.body_guard import BODY_BYTES_MAX, BodyGuard
from chassis.edge import Edge
from chassis.health import Health
from chassis.reference_page import add_reference_page

CONCURRENCY_MAX: Final = 500
_CONNECTIONS_MAX: Final = 4096
_KEEP_ALIVE_SECONDS: Final = 30
_BACKLOG: Final = 2048
_START_TIMEOUT_SECONDS: Final = 10.0
_STOP_MARGIN_SECONDS: Final = 2.0


class CannotListenError(Exception):
    """The address is taken, not ours, or needs rights we do not have."""


def create_app(
    *,
    service: str,
    health: Health,
    title: str,
    version: str = "0.1.0",
    docs: bool = True,
    body_bytes_max: int = BODY_BYTES_MAX,
    raw_paths: Sequence[str] = (),
    concurrency_max: int = CONCURRENCY_MAX,
    **settings: Any,
) -> FastAPI:
    """An application with problems, health, metrics, spans, request ids and bounds; add routers to it.

    Paths starting with one of `raw_paths` get their body unread and unjudged. `settings` go to FastAPI.
    """
    app = FastAPI(
        title=title,
        version=version,
        openapi_url="/openapi.json" if docs else None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        **settings,
    )
    app.state.service = service
    app.add_middleware(BodyGuard, bytes_max=body_bytes_max, raw_paths=raw_paths)
    problems.install(app)
    app.add_middleware(Edge, concurrency_max=concurrency_max)
    app.router.routes.extend(health.routes())
    if docs:
        add_reference_page(app)
    return app


def add_shortcut(app: FastAPI, shortcut: Any, **settings: Any) -> None:
    """Let an ASGI middleware answer what it can, inside of all that `create_app` adds and before any routing."""
    app.user_middleware.append(Middleware(shortcut, **settings))


class WebServer:
    """A stage: `start` returns when the address listens, `stop` when the requests in flight are answered, bounded."""

    name = "http"

    def __init__(self, app: FastAPI, *, host: str, port: int, stop_timeout_seconds: float = 10.0) -> None:
        self._address = (host, port)
        self._stop_timeout_seconds = stop_timeout_seconds
        self._server = _Server(_config(app, stop_timeout_seconds))
        self._listener: socket.socket | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port really listened on (of interest when 0 was asked for)."""
        if self._listener is None:
            raise RuntimeError("the web server is not started")
        return int(self._listener.getsockname()[1])

    async def start(self) -> None:
        """Listen; raises `CannotListenError`."""
        self._listener = _listen(*self._address)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listener]), name="web-server")
        try:
            async with asyncio.timeout(_START_TIMEOUT_SECONDS):
                await self._server.listening.wait()
        except TimeoutError:
            await self.stop()
            raise CannotListenError(f"no start within {_START_TIMEOUT_SECONDS:g} s") from None

    async def stop(self) -> None:
        """Take no new connection, answer what is in flight, cut off what takes longer than the timeout."""
        if self._serving is None:
            return
        self._server.should_exit = True
        done, _ = await asyncio.wait({self._serving}, timeout=self._stop_timeout_seconds + _STOP_MARGIN_SECONDS)
        if not done:
            self._server.force_exit = True
            self._serving.cancel()
            await asyncio.wait({self._serving}, timeout=_STOP_MARGIN_SECONDS)
        if self._listener is not None:
            self._listener.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the runner."""
        yield


def _config(app: FastAPI, stop_timeout_seconds: float) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS_MAX,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(stop_timeout_seconds),
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise CannotListenError(f"cannot listen on {host}:{port}: {error.strerror}") from error
