"""The address the gateway posts to: an authenticated post is answered 200 once it is kept, or 503, never with a 4xx."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Final

from prometheus_client import Histogram
from starlette.types import ASGIApp, Receive, Scope, Send

from chassis.body_guard import read_body as receive_body
from chassis.problems import Problem, header, unavailable
from chassis.telemetry.metrics import LATENCY_BUCKETS, registry
from gateways.evolution.webhook_address import ROOT
from status_ingest.domain.credentials import Verdict, recognise
from status_ingest.usecases.keep_event import BODY_BYTES_MAX, KeepEvent, events_total
from status_ingest.usecases.read_body import read_body

RAW_PATHS = ("/webhooks/", "//")
"""Nothing but this module may judge the body of a post to these."""

KEEP_TIMEOUT_SECONDS = 10.0
_TOO_LARGE = 413
_ROOT: Final = ROOT.strip("/").split("/")
_OK: Final = b'{"ok":true}'
_HEADERS: Final = ((b"content-length", b"%d" % len(_OK)), (b"content-type", b"application/json"))

edge_seconds = Histogram(
    "pilot_status_ingest_edge_seconds",
    "From a post's head to its durable answer.",
    buckets=LATENCY_BUCKETS,
    registry=registry,
)


@dataclass(frozen=True, slots=True)
class _Route:
    """Names the address to metrics and spans, without anything secret in it."""

    path: str


_ROUTE: Final = _Route(f"{ROOT}/{{rest}}")


class WebhookDoor:
    """ASGI middleware for `/webhooks/evolution/…`; any other path is passed on.

    Not a route of the framework: measured, that was more than a third of what a post costs this process.
    Empty segments count for nothing, so that a base address with a slash at its end, or two, loses no event.
    """

    def __init__(self, app: ASGIApp, *, keep: KeepEvent, tokens: Sequence[str], clock: Callable[[], datetime]) -> None:
        self._app, self._keep, self._tokens, self._clock = app, keep, tuple(tokens), clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        segments = [segment for segment in scope["path"].split("/") if segment] if scope["type"] == "http" else []
        if segments[: len(_ROOT)] != _ROOT:
            await self._app(scope, receive, send)
            return
        scope["route"] = _ROUTE
        if scope["method"] != "POST":
            raise Problem(405, "METHOD_NOT_ALLOWED", "Webhooks are posted.", headers={"allow": "POST"})
        await self._take(segments[len(_ROOT) :], scope, receive)
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        await send({"type": "http.response.body", "body": _OK})

    async def _take(self, address: Sequence[str], scope: Scope, receive: Receive) -> None:
        started = perf_counter()
        sender = recognise(address, _credentials(scope), self._tokens, now=self._clock())
        if sender.verdict is Verdict.REFUSED:
            events_total.labels(event="none", result="refused").inc()
            raise Problem(401, "WEBHOOK_CREDENTIAL_REFUSED", "The webhook credential is missing or wrong.")
        reading = read_body(
            await _body(scope, receive),
            number=sender.number,
            instance_hint=_text(scope, b"x-instance-name"),
            is_stale=sender.verdict is Verdict.EXPIRED,
        )
        async with asyncio.timeout(KEEP_TIMEOUT_SECONDS):
            await self._keep.keep(reading)
        edge_seconds.observe(perf_counter() - started)


def _credentials(scope: Scope) -> list[str]:
    scheme, _, bearer = _text(scope, b"authorization").partition(" ")
    return [_text(scope, b"x-webhook-token"), bearer.strip() if scheme.lower() == "bearer" else ""]


def _text(scope: Scope, name: bytes) -> str:
    return (header(scope, name) or b"").decode("latin-1")


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The body, None beyond the bound. One that does not arrive in time may be posted again."""
    try:
        return await receive_body(scope, receive, bytes_max=BODY_BYTES_MAX)
    except Problem as problem:
        if problem.status == _TOO_LARGE:
            return None
        raise unavailable() from problem
