"""The address the gateway posts to: an authenticated post is answered 200 once it is kept, or 503, never with a 4xx."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from time import perf_counter

from fastapi import APIRouter, Request
from prometheus_client import Counter, Histogram

from chassis.body_guard import read_body as receive_body
from chassis.problems import Problem, unavailable
from chassis.telemetry.metrics import LATENCY_BUCKETS, registry
from status_ingest.domain.credentials import Verdict, verify
from status_ingest.usecases.keep_event import KeepEvent
from status_ingest.usecases.read_body import read_body

RAW_PATHS = ("/webhooks/",)
"""Nothing but this module may judge the body of a post to these."""

BODY_BYTES_MAX = 1024 * 1024
KEEP_TIMEOUT_SECONDS = 10.0
_TOO_LARGE = 413

events_total = Counter(
    "pilot_status_ingest_events_total", "Posted events by what became of them.", ["event", "result"], registry=registry
)
edge_seconds = Histogram(
    "pilot_status_ingest_edge_seconds",
    "From a post's head to its durable answer.",
    buckets=LATENCY_BUCKETS,
    registry=registry,
)


def ingest_router(keep: KeepEvent, *, tokens: Sequence[str], clock: Callable[[], datetime]) -> APIRouter:
    """Routes with the token in the path (any event suffix after it) or in a header."""
    router = APIRouter(tags=["webhooks"])

    async def take(request: Request) -> dict[str, bool]:
        started = perf_counter()
        verdict = verify(_credentials(request), tokens, now=clock())
        if verdict is Verdict.REFUSED:
            events_total.labels(event="none", result="refused").inc()
            raise Problem(401, "WEBHOOK_CREDENTIAL_REFUSED", "The webhook credential is missing or wrong.")
        reading = read_body(
            await _body(request),
            instance_hint=request.headers.get("x-instance-name"),
            is_stale=verdict is Verdict.EXPIRED,
        )
        async with asyncio.timeout(KEEP_TIMEOUT_SECONDS):
            await keep.keep(reading)
        events_total.labels(event=reading.event, result=reading.fault or "kept").inc()
        edge_seconds.observe(perf_counter() - started)
        return {"ok": True}

    for path in ("/webhooks/evolution", "/webhooks/evolution/{rest:path}"):
        router.add_api_route(path, take, methods=["POST"], include_in_schema=False)
    return router


def _credentials(request: Request) -> list[str]:
    in_path = str(request.path_params.get("rest", "")).partition("/")[0]
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    in_headers = [request.headers.get("x-webhook-token", ""), bearer.strip() if scheme.lower() == "bearer" else ""]
    return [in_path, *in_headers]


async def _body(request: Request) -> bytes | None:
    """The body, None beyond the bound. One that does not arrive in time may be posted again."""
    try:
        return await receive_body(request.scope, request.receive, bytes_max=BODY_BYTES_MAX)
    except Problem as problem:
        if problem.status == _TOO_LARGE:
            return None
        raise unavailable() from problem
