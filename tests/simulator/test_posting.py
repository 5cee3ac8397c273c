"""The webhook client against servers that answer oddly: only an HTTP status in time counts as an answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from evolution_simulator.posting import ANSWER_BYTES_MAX, Poster

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve(reader, writer)
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/hook?x=1"


async def request_of(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(2)


def once(answer: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(answer)
        await writer.drain()

    return serve


@pytest.fixture
def poster() -> Iterator[Poster]:
    poster = Poster(connections_max=2, timeout_seconds=0.3)
    yield poster
    poster.close()


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (OK, 200),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
        (b"HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", 500),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, 200),
        (b"HTTP/1.0 201 Created\r\n\r\nuntil the end", 201),
    ],
)
async def test_answers_in_every_framing(poster: Poster, answer: bytes, status: int) -> None:
    async with server(once(answer)) as url:
        assert await poster.post(url, {}, b"{}") == status


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", b"x" * ANSWER_BYTES_MAX]
)
async def test_no_answer_is_a_connection_error(poster: Poster, answer: bytes) -> None:
    async with server(once(answer)) as url:
        with pytest.raises(ConnectionError):
            await poster.post(url, {}, b"{}")


async def test_silence_is_a_timeout(poster: Poster) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with server(silent) as url:
        with pytest.raises(TimeoutError):
            await poster.post(url, {}, b"{}")


async def test_a_connection_is_kept_and_replaced_when_it_died(poster: Poster) -> None:
    requests: list[bytes] = []
    connections = 0

    async def two_requests_each(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        for _ in range(2):
            requests.append(await request_of(reader))
            writer.write(OK)

    async with server(two_requests_each) as url:
        for _ in range(4):
            assert await poster.post(url, {"x-own": "é"}, b"{}") == 200
    assert (connections, len(requests)) == (2, 4)
    assert requests[0].startswith(b"POST /hook?x=1 HTTP/1.1\r\nhost: 127.0.0.1:")


@pytest.mark.parametrize(("url", "header"), [("http:///nowhere", "x"), ("http://127.0.0.1:9/", "a\r\nb: c")])
async def test_what_cannot_be_asked_is_a_value_error(poster: Poster, url: str, header: str) -> None:
    with pytest.raises(ValueError, match=r"host|line break"):
        await poster.post(url, {"x": header}, b"{}")
