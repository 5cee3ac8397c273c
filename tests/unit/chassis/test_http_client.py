"""Calls to others are bounded in time and size, whatever the other side does."""

import asyncio

import httpx
import pytest

from chassis.http_client import Timeouts, create_client, send_bounded

from .servers import response, serving

DEADLINE_SECONDS = 5


async def test_an_answer_within_bounds_comes_whole() -> None:
    async with (
        serving(response(418, b"teapot", b"x-kind: pot")) as there,
        create_client(base_url=f"http://127.0.0.1:{there.port}", headers={"x-key": "v"}) as client,
    ):
        reply = await send_bounded(client, client.build_request("POST", "/in", json={}), timeout_seconds=5)
    assert (reply.status, reply.body, reply.truncated, reply.headers["x-kind"]) == (418, b"teapot", False, "pot")
    head = there.requests[0].lower()
    assert b"accept-encoding: identity" in head
    assert b"x-key: v" in head
    assert "teapot" not in repr(reply)


async def test_an_endless_body_is_cut_off() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serving(endless) as there, create_client() as client:
        request = client.build_request("GET", f"http://127.0.0.1:{there.port}/")
        reply = await send_bounded(client, request, timeout_seconds=DEADLINE_SECONDS, body_bytes_max=1000)
    assert (len(reply.body), reply.truncated) == (1000, True)


async def test_a_body_of_exactly_the_limit_is_whole() -> None:
    async with serving(response(200, b"x" * 1000)) as there, create_client() as client:
        request = client.build_request("GET", f"http://127.0.0.1:{there.port}/")
        reply = await send_bounded(client, request, timeout_seconds=DEADLINE_SECONDS, body_bytes_max=1000)
    assert (len(reply.body), reply.truncated) == (1000, False)


async def test_a_slow_drip_ends_when_the_time_is_up() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with serving(drip) as there, create_client() as client:
        request = client.build_request("GET", f"http://127.0.0.1:{there.port}/")
        async with asyncio.timeout(DEADLINE_SECONDS):
            with pytest.raises(TimeoutError):
                await send_bounded(client, request, timeout_seconds=0.2)


async def test_silence_ends_with_a_read_timeout() -> None:
    async def silence(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(DEADLINE_SECONDS)

    async with serving(silence) as there, create_client(timeouts=Timeouts(read_seconds=0.1)) as client:
        request = client.build_request("GET", f"http://127.0.0.1:{there.port}/")
        with pytest.raises(httpx.ReadTimeout):
            await send_bounded(client, request, timeout_seconds=DEADLINE_SECONDS)


async def test_redirects_are_answers_and_proxies_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with serving(response(302, b"", b"location: http://127.0.0.1:9/")) as there, create_client() as client:
        assert (await client.get(f"http://127.0.0.1:{there.port}/")).status_code == 302
