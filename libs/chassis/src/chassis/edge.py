"""The outermost layer of every HTTP request: its id, its span, its metrics and a bound on how many run at once."""

import re
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from time import perf_counter
from typing import Any, Final

from opentelemetry.trace import INVALID_SPAN, Span
from prometheus_client import Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.health import QUIET_PATHS
from chassis.problems import REQUEST_ID_KEY, Problem, header, render
from chassis.telemetry.logs import get_logger
from chassis.telemetry.metrics import LATENCY_BUCKETS, registry
from chassis.telemetry.tracing import SpanKind, span
from contracts.ids import uuid7

logger = get_logger(__name__)

UNMATCHED: Final = "unmatched"
_SLOW_SECONDS: Final = 1.0
_CLIENT_GONE: Final = 499
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

_requests = Counter(
    "pilot_http_requests_total", "HTTP requests answered.", ["method", "route", "status"], registry=registry
)
_durations = Histogram(
    "pilot_http_request_duration_seconds",
    "Time from the first byte of a request to the last of its answer.",
    ["method", "route"],
    buckets=LATENCY_BUCKETS,
    registry=registry,
)
_running = Gauge("pilot_http_requests_running", "HTTP requests being worked on.", registry=registry)
_turned_away = Counter(
    "pilot_http_requests_turned_away_total", "HTTP requests refused because too many were running.", registry=registry
)


_further: ContextVar[list[tuple[bytes, bytes]] | None] = ContextVar("further_headers", default=None)


def add_answer_headers(*headers: tuple[bytes, bytes]) -> None:
    """Add headers to the answer of the request at hand, whoever writes it; names in small letters."""
    further = _further.get()
    if further is not None:
        further.extend(headers)


class Edge:
    """ASGI middleware; above `concurrency_max` requests at once it answers 503 OVERLOADED."""

    def __init__(self, app: ASGIApp, *, concurrency_max: int) -> None:
        self._app = app
        self._concurrency_max = concurrency_max
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        quiet = scope["path"] in QUIET_PATHS
        scope[REQUEST_ID_KEY] = _request_id(scope)
        further: list[tuple[bytes, bytes]] = []
        _further.set(further)
        answer = _Answer(send, scope[REQUEST_ID_KEY], further)
        started = perf_counter()
        self._count += 1
        _running.inc()
        try:
            with nullcontext(INVALID_SPAN) if quiet else _server_span(scope) as server_span:
                await self._admit(scope, receive, answer, quiet=quiet)
                if server_span.is_recording():
                    _describe(server_span, scope, answer.status)
        finally:
            self._count -= 1
            _running.dec()
            if not quiet:
                _record(scope, answer.status, perf_counter() - started)

    async def _admit(self, scope: Scope, receive: Receive, answer: "_Answer", *, quiet: bool) -> None:
        if self._count <= self._concurrency_max or quiet:
            await self._app(scope, receive, answer)
            return
        _turned_away.inc()
        await render(_overloaded(), scope)(scope, receive, answer)


class _Answer:
    """Passes the answer on, adding the request id and further headers, and remembering the status."""

    __slots__ = ("_further", "_request_id", "_send", "status")

    def __init__(self, send: Send, request_id: str, further: list[tuple[bytes, bytes]]) -> None:
        self._send, self._further = send, further
        self._request_id = request_id.encode("ascii")
        self.status = _CLIENT_GONE

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                (b"x-request-id", self._request_id),
                *self._further,
            ]
        await self._send(message)


def route_template(scope: Scope) -> str:
    """The matched route with its prefix and placeholders, never the path itself; `unmatched` without a route."""
    route = scope.get("route")
    included = scope.get("fastapi", {}).get("effective_route_context")  # FastAPI keeps the prefix of a router here only
    template = getattr(included, "path_format", None) or getattr(route, "path", None)
    return template if isinstance(template, str) else UNMATCHED


def _server_span(scope: Scope) -> AbstractContextManager[Span]:
    parent = header(scope, b"traceparent")
    return span(
        f"{_method(scope)} http",
        parent=parent.decode("ascii", "replace") if parent is not None else None,
        kind=SpanKind.SERVER,
    )


def _describe(server_span: Span, scope: Scope, status: int) -> None:
    route = route_template(scope)
    server_span.update_name(f"{_method(scope)} {route}")
    server_span.set_attributes(
        {"http.request.method": _method(scope), "http.route": route, "http.response.status_code": status}
    )


def _record(scope: Scope, status: int, duration_seconds: float) -> None:
    method, route = _method(scope), route_template(scope)
    _count_of(method, route, status).inc()
    _duration_of(method, route).observe(duration_seconds)
    if status >= 500 or duration_seconds > _SLOW_SECONDS:
        fields: dict[str, Any] = {"method": method, "route": route, "status": status}
        logger.warning(
            "request_answered_badly" if status >= 500 else "request_was_slow",
            request_id=scope[REQUEST_ID_KEY],
            duration_ms=round(duration_seconds * 1000),
            **fields,
        )


@lru_cache(maxsize=4096)
def _count_of(method: str, route: str, status: int) -> Counter:
    return _requests.labels(method, route, status)


@lru_cache(maxsize=1024)
def _duration_of(method: str, route: str) -> Histogram:
    return _durations.labels(method, route)


def _overloaded() -> Problem:
    return Problem(503, "OVERLOADED", "Too many requests at once; try again shortly.", headers={"retry-after": "1"})


def _request_id(scope: Scope) -> str:
    given = header(scope, b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode("ascii")
    return str(uuid7())


def _method(scope: Scope) -> str:
    method = scope["method"]
    return method if method in _METHODS else "OTHER"
