"""The short way of POST /messages/send: it answers what is in good form, and leaves the rest to the other."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from api.messages.domain.receipt import Receipt
from api.messages.routes.shortcut import SendShortcut
from api.refusals import Refusal, RefusedError
from chassis.body_guard import JSON_BODY_KEY

RECEIPT = Receipt(
    message_id=UUID(int=7),
    correlation_id="c",
    accepted_at=datetime(2030, 1, 1, tzinfo=UTC),
    origin="o",
    source_number=None,
)
GOOD = b'{"destinationNumber":"+5547991000000","text":"Hi"}'


class Stub:
    """Stands for authentication and acceptance."""

    def __init__(self, outcome: Receipt | RefusedError = RECEIPT) -> None:
        self.outcome = outcome
        self.calls: list[Any] = []

    async def caller(self, raw_key: str | None) -> str:
        self.calls.append(("caller", raw_key))
        return "caller"

    async def accept(self, request: Any, caller: Any, *, key: str | None) -> Receipt:
        self.calls.append(("accept", request.destination, key))
        if isinstance(self.outcome, RefusedError):
            raise self.outcome
        return self.outcome


async def through(
    stub: Stub, body: bytes | None, *, path: str = "/v1/messages/send", method: str = "POST"
) -> tuple[list[Message], Scope]:
    """What is sent, `long way` if the request was passed on, and the scope as it is left behind."""
    sent: list[Message] = []

    async def long_way(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "long way"})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("the body is in the scope")

    shortcut = SendShortcut(
        long_way,
        prefixes=("/v1", "/api/v1"),
        authenticate=stub,  # type: ignore[arg-type]
        accept=stub,  # type: ignore[arg-type]
        refuse=lambda error, _: Response(error.refusal.name, error.status),
    )
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": [(b"x-api-key", b"k")]}
    scope["headers"].append((b"idempotency-key", b"once"))
    if body is not None:
        scope[JSON_BODY_KEY] = body
    await shortcut(scope, receive, send)
    return sent, scope


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1"])
async def test_a_good_send_is_answered_under_both_prefixes_and_counted_under_its_route(prefix: str) -> None:
    stub = Stub()
    sent, scope = await through(stub, GOOD, path=f"{prefix}/messages/send")
    assert sent[0]["status"] == 202
    assert dict(sent[0]["headers"])[b"content-length"] == str(len(sent[1]["body"])).encode()
    assert orjson.loads(sent[1]["body"])["id"] == str(UUID(int=7))
    assert stub.calls == [("caller", "k"), ("accept", "+5547991000000", "once")]
    assert scope["route"].path == f"{prefix}/messages/send"


async def test_a_replay_says_so() -> None:
    sent, _ = await through(Stub(RECEIPT.again()), GOOD)
    assert (b"idempotent-replayed", b"true") in sent[0]["headers"]


async def test_a_refusal_is_an_answer() -> None:
    sent, _ = await through(Stub(RefusedError(Refusal.TEXT_INVALID)), GOOD)
    assert sent[0]["status"] == 400
    assert sent[1]["body"] == b"TEXT_INVALID"


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        (None, {}),
        (b'{"destinationNumber":true}', {}),
        (b"[]", {}),
        (GOOD, {"method": "GET"}),
        (GOOD, {"path": "/v1/messages/batch"}),
    ],
    ids=["not JSON", "invalid field", "no object", "another method", "another path"],
)
async def test_the_rest_is_passed_on_before_the_key_is_looked_at(body: bytes | None, changes: dict[str, str]) -> None:
    stub = Stub()
    sent, _ = await through(stub, body, **changes)
    assert sent == [{"type": "long way"}]
    assert stub.calls == []
