"""A service's HTTP side over a real socket: it listens, is observed, and stops without cutting anyone off."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Message, Scope

from chassis.body_guard import read_body
from chassis.health import Health
from chassis.problems import Problem
from chassis.telemetry.tracing import current_traceparent
from chassis.web import CannotListenError, WebServer, create_app

DEADLINE_SECONDS = 5


class Gate:
    """Lets a test hold a request in flight."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()


def build(health: Health, gate: Gate, *, concurrency_max: int = 50) -> FastAPI:
    app = create_app(
        service="tester", health=health, title="Tester", raw_paths=["/raw"], concurrency_max=concurrency_max
    )
    router = APIRouter(prefix="/things")

    @router.get("/{thing}")
    async def thing(thing: str) -> dict[str, str | None]:
        return {"traceparent": current_traceparent()}

    @app.get("/slow")
    async def slow() -> dict[str, bool]:
        gate.entered.set()
        await gate.opened.wait()
        return {"done": True}

    @app.post("/raw/in")
    async def raw(request: Request) -> int:
        return len(await read_body(request.scope, request.receive, bytes_max=10))

    @app.post("/strict")
    async def strict(body: dict[str, Any]) -> int:
        return len(body)

    app.include_router(router, prefix="/v1")
    return app


@pytest.fixture
async def health() -> Health:
    return Health()


@pytest.fixture
async def gate() -> Gate:
    return Gate()


@pytest.fixture
async def server(health: Health, gate: Gate) -> AsyncIterator[WebServer]:
    server = WebServer(build(health, gate), host="127.0.0.1", port=0, stop_timeout_seconds=1)
    await server.start()
    yield server
    gate.opened.set()
    await server.stop()


@pytest.fixture
async def client(server: WebServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        yield client


async def samples(client: httpx.AsyncClient, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    text = (await client.get("/metrics")).text
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def test_live_ready_and_draining(client: httpx.AsyncClient, health: Health) -> None:
    assert (await client.get("/live")).json() == {"status": "live"}
    assert (await client.get("/ready")).json() == {"status": "ready"}
    health.drain()
    response = await client.get("/ready")
    assert (response.status_code, response.json()["failing"]) == (503, {"process": "draining"})
    assert (await client.get("/live")).status_code == 200


async def test_ready_names_what_fails_and_waits_for_nobody(client: httpx.AsyncClient, health: Health) -> None:
    async def fine() -> None:
        return None

    async def down() -> str:
        return "no connection"

    async def hanging() -> None:
        await asyncio.Event().wait()

    async def broken() -> None:
        raise RuntimeError("secret address")

    for name, check in (("fine", fine), ("down", down), ("hanging", hanging), ("broken", broken)):
        health.check(name, check)
    async with asyncio.timeout(DEADLINE_SECONDS):
        response = await client.get("/ready")
    body = response.json()
    assert (response.status_code, body["code"], response.headers["retry-after"]) == (503, "NOT_READY", "1")
    assert body["failing"] == {
        "down": "no connection",
        "hanging": "no answer within 1 s",
        "broken": "the check failed with RuntimeError",
    }


async def test_callers_share_a_round_of_checks(health: Health) -> None:
    rounds = 0

    async def count() -> None:
        nonlocal rounds
        rounds += 1
        await asyncio.sleep(0)

    health.check("count", count)
    await asyncio.gather(*(health.failing() for _ in range(50)))
    assert rounds == 1
    await health.failing()
    assert rounds == 2
    with pytest.raises(ValueError, match="already"):
        health.check("count", count)


async def test_metrics_know_routes_not_paths(client: httpx.AsyncClient) -> None:
    for path in ("/v1/things/5511987654321", "/v1/things/2", "/nowhere/5511987654321"):
        await client.get(path)
    await client.request("PROPFIND", "/v1/things/1")
    counted = await samples(client, "pilot_http_requests_total")
    routes = {dict(labels)["route"] for labels in counted}
    assert counted[(("method", "GET"), ("route", "/v1/things/{thing}"), ("status", "200"))] >= 2
    assert counted[(("method", "OTHER"), ("route", "/v1/things/{thing}"), ("status", "405"))] >= 1
    assert "unmatched" in routes
    assert not any("5511987654321" in route for route in routes)
    assert "/metrics" not in routes
    assert await samples(client, "pilot_http_request_duration_seconds_count")
    assert await samples(client, "process_resident_memory_bytes")
    assert await samples(client, "python_gc_collections_total")


async def test_request_ids_are_taken_over_if_sane(client: httpx.AsyncClient) -> None:
    given = "caller-id.0001"
    assert (await client.get("/live", headers={"x-request-id": given})).headers["x-request-id"] == given
    for odd in ("short", "x" * 65, "a b c d e f g h", '"quoted-id-1"'):
        response = await client.get("/live", headers={"x-request-id": odd})
        assert UUID(response.headers["x-request-id"]).version == 7


async def test_an_inbound_trace_is_continued(client: httpx.AsyncClient) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    response = await client.get("/v1/things/1", headers={"traceparent": parent})
    assert re.fullmatch(r"00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-0[13]", response.json()["traceparent"])
    problem = await client.get("/nowhere", headers={"traceparent": parent})
    assert problem.json()["traceId"] == "0af7651916cd43dd8448eb211c80319c"


async def test_raw_paths_judge_their_body_themselves(client: httpx.AsyncClient) -> None:
    assert (await client.post("/raw/in", content=b"\xff{")).json() == 2
    assert (await client.post("/raw/in", content=b"x" * 11)).json()["code"] == "PAYLOAD_TOO_LARGE"
    assert (await client.post("/strict", content=b"\xff{")).json()["code"] == "MALFORMED_JSON"


async def test_a_body_too_large_is_answered_while_it_is_still_being_sent(server: WebServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST /strict HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\n\r\n{")
    async with asyncio.timeout(DEADLINE_SECONDS):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"PAYLOAD_TOO_LARGE" in answer
    writer.close()


async def test_a_body_that_never_arrives_is_given_up() -> None:
    scope: Scope = {"type": "http", "headers": []}

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(Problem) as raised:
        await read_body(scope, never, bytes_max=10, timeout_seconds=0.01)
    assert raised.value.status == 408


async def test_a_client_that_leaves_is_no_fault(
    server: WebServer, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST /strict HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{")
    await writer.drain()
    writer.close()
    key = (("method", "POST"), ("route", "unmatched"), ("status", "499"))

    async def counted() -> bool:
        return key in await samples(client, "pilot_http_requests_total")

    await eventually(counted)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_too_many_requests_at_once_are_turned_away(health: Health, gate: Gate) -> None:
    server = WebServer(build(health, gate, concurrency_max=1), host="127.0.0.1", port=0)
    await server.start()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        held = asyncio.create_task(client.get("/slow"))
        await asyncio.wait_for(gate.entered.wait(), DEADLINE_SECONDS)
        refused = await client.get("/v1/things/1")
        alive = await client.get("/live")
        gate.opened.set()
        await held
    await server.stop()
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, "OVERLOADED", "1")
    assert alive.status_code == 200


async def test_stop_answers_what_is_in_flight_and_takes_nothing_new(
    server: WebServer, client: httpx.AsyncClient, gate: Gate
) -> None:
    held = asyncio.create_task(client.get("/slow"))
    await asyncio.wait_for(gate.entered.wait(), DEADLINE_SECONDS)
    port = server.port
    stopping = asyncio.create_task(server.stop())

    async def refuses() -> bool:
        return not await _listens(port)

    await eventually(refuses)
    assert not held.done()
    gate.opened.set()
    assert (await asyncio.wait_for(held, DEADLINE_SECONDS)).json() == {"done": True}
    await asyncio.wait_for(stopping, DEADLINE_SECONDS)


async def test_stop_is_bounded_even_if_a_request_never_ends(
    server: WebServer, client: httpx.AsyncClient, gate: Gate
) -> None:
    held = asyncio.create_task(client.get("/slow"))
    await asyncio.wait_for(gate.entered.wait(), DEADLINE_SECONDS)
    await asyncio.wait_for(server.stop(), DEADLINE_SECONDS)
    (outcome,) = await asyncio.gather(held, return_exceptions=True)
    assert isinstance(outcome, httpx.HTTPError) or (isinstance(outcome, httpx.Response) and outcome.is_server_error)


async def test_a_taken_port_is_said_clearly(server: WebServer, health: Health, gate: Gate) -> None:
    second = WebServer(build(health, gate), host="127.0.0.1", port=server.port)
    with pytest.raises(CannotListenError, match=rf"127\.0\.0\.1:{server.port}: .*in use"):
        await second.start()
    await second.stop()


async def test_documentation_can_be_left_out(health: Health) -> None:
    app = create_app(service="tester", health=health, title="Tester", docs=False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://tester") as client:
        assert (await client.get("/openapi.json")).status_code == 404
        assert (await client.get("/docs")).json()["code"] == "ROUTE_NOT_FOUND"


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
