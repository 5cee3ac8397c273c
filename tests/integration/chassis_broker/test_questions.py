"""Questions over a real broker: an answer, a failure, or nobody there, always within the time given."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from chassis.answers import Answerer, AnswerHandler
from chassis.questions import Asker, OwnerUnavailableError, QuestionFailedError
from chassis.telemetry.tracing import current_traceparent, span
from chassis.testing.wire import Wire

from .place import Place, all_well


@pytest.fixture
async def asker(place: Place) -> AsyncIterator[Asker]:
    asker = Asker(place.url, service="svc")
    await asker.start()
    yield asker
    await asker.stop()


class OpenAnswerer:
    """Opens answerers for one test and stops them at its end."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._opened: list[Answerer] = []

    async def __call__(
        self, handler: AnswerHandler, *, url: str | None = None, handler_timeout_seconds: float = 10.0
    ) -> Answerer:
        answerer = Answerer(
            url or self._place.url,
            f"questions.{self._place.mark}",
            handler,
            handler_timeout_seconds=handler_timeout_seconds,
        )
        self._opened.append(answerer)
        await answerer.start()
        await all_well(answerer)
        return answerer

    async def close(self) -> None:
        for answerer in self._opened:
            await answerer.stop()


@pytest.fixture
async def open_answerer(place: Place) -> AsyncIterator[OpenAnswerer]:
    opening = OpenAnswerer(place)
    yield opening
    await opening.close()


async def ask(asker: Asker, place: Place, body: bytes, *, timeout_seconds: float = 5.0) -> bytes:
    return await asker.ask(f"questions.{place.mark}", body, type="test.asked.v1", timeout_seconds=timeout_seconds)


async def test_many_questions_get_their_own_answers_from_several_replicas(
    asker: Asker, open_answerer: OpenAnswerer, place: Place
) -> None:
    takers: set[str] = set()

    def replica(name: str) -> AnswerHandler:
        async def handler(kind: str, body: bytes) -> bytes:
            takers.add(name)
            return kind.encode() + b"/" + body

        return handler

    await open_answerer(replica("first"))
    await open_answerer(replica("second"))
    answers = await asyncio.gather(*(ask(asker, place, str(number).encode()) for number in range(100)))
    assert answers == [f"test.asked.v1/{number}".encode() for number in range(100)]
    assert takers == {"first", "second"}


async def test_without_an_owner_the_asker_learns_it_at_once(asker: Asker, place: Place) -> None:
    async with asyncio.timeout(2):
        with pytest.raises(OwnerUnavailableError, match="no such owner"):
            await ask(asker, place, b"", timeout_seconds=30)


async def test_a_silent_owner_costs_the_timeout_and_no_more(
    asker: Asker, open_answerer: OpenAnswerer, place: Place
) -> None:
    silence = asyncio.Event()

    async def handler(_: str, body: bytes) -> bytes:
        if body == b"slow":
            await silence.wait()
        return b"late" if body == b"slow" else b"prompt"

    await open_answerer(handler)
    with pytest.raises(OwnerUnavailableError, match="in time"):
        await ask(asker, place, b"slow", timeout_seconds=0.2)
    silence.set()
    assert await ask(asker, place, b"quick") == b"prompt", "a late answer disturbs nobody"


async def test_a_question_nobody_waits_for_any_more_is_not_asked(
    asker: Asker, open_answerer: OpenAnswerer, place: Place
) -> None:
    asked: list[bytes] = []

    async def handler(_: str, body: bytes) -> bytes:
        asked.append(body)
        return b""

    answerer = await open_answerer(handler)
    await answerer.stop()
    with pytest.raises(OwnerUnavailableError, match="in time"):
        await ask(asker, place, b"forgotten", timeout_seconds=0.1)
    await open_answerer(handler)
    await ask(asker, place, b"wanted")
    assert asked == [b"wanted"]


async def test_a_failing_handler_is_answered_for(asker: Asker, open_answerer: OpenAnswerer, place: Place) -> None:
    async def handler(_: str, body: bytes) -> bytes:
        raise LookupError("a text that must not travel")

    await open_answerer(handler)
    with pytest.raises(QuestionFailedError) as failure:
        await ask(asker, place, b"")
    assert str(failure.value) == "LookupError"


async def test_a_handler_that_hangs_is_answered_for(asker: Asker, open_answerer: OpenAnswerer, place: Place) -> None:
    async def handler(_: str, body: bytes) -> bytes:
        await asyncio.Event().wait()
        return b""

    await open_answerer(handler, handler_timeout_seconds=0.1)
    with pytest.raises(QuestionFailedError, match="TimeoutError"):
        await ask(asker, place, b"")


async def test_the_trace_continues_on_the_other_side(asker: Asker, open_answerer: OpenAnswerer, place: Place) -> None:
    async def handler(_: str, body: bytes) -> bytes:
        return (current_traceparent() or "none").encode()

    await open_answerer(handler)
    with span("asking", parent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"):
        answer = await ask(asker, place, b"")
    assert b"0af7651916cd43dd8448eb211c80319c" in answer


async def test_a_lost_connection_fails_what_waits_and_the_next_question_is_answered(
    open_answerer: OpenAnswerer, place: Place, wire: Wire
) -> None:
    asked, never = asyncio.Event(), asyncio.Event()

    async def handler(_: str, body: bytes) -> bytes:
        asked.set()
        if body == b"wait":
            await never.wait()
        return b"here"

    await open_answerer(handler)
    asker = Asker(wire.url, service="svc")
    waiting = asyncio.create_task(ask(asker, place, b"wait", timeout_seconds=30))
    await asked.wait()
    wire.cut()
    wire.mend()
    async with asyncio.timeout(5):
        with pytest.raises(OwnerUnavailableError):
            await waiting
    never.set()
    assert await ask(asker, place, b"again") == b"here"
    await asker.stop()


async def test_the_owner_returns_after_its_connection_broke(
    asker: Asker, open_answerer: OpenAnswerer, place: Place, wire: Wire
) -> None:
    async def handler(_: str, body: bytes) -> bytes:
        return b"here"

    await open_answerer(handler, url=wire.url)
    wire.cut()
    wire.mend()
    assert await ask(asker, place, b"", timeout_seconds=10) == b"here"


async def test_an_absent_broker_is_reported_within_the_timeout() -> None:
    asker = Asker("amqp://guest:guest@127.0.0.1:1/x", service="svc")
    async with asyncio.timeout(2):
        with pytest.raises(OwnerUnavailableError, match="no broker"):
            await asker.ask("questions.any", b"", type="test.asked.v1", timeout_seconds=1)


async def test_a_mute_broker_is_reported_within_the_timeout() -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        asker = Asker(f"amqp://guest:guest@127.0.0.1:{port}/x", service="svc")
        async with asyncio.timeout(3):
            with pytest.raises(OwnerUnavailableError):
                await asker.ask("questions.any", b"", type="test.asked.v1", timeout_seconds=0.3)
        await asker.stop()
