"""One send from validated request to answer: the gateway's usual behaviour, or what a script makes of it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, assert_never

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from evolution_simulator import connection, errors, ids
from evolution_simulator.errors import EvolutionError
from evolution_simulator.faults import Fault
from evolution_simulator.instances import Instance, State
from evolution_simulator.jid import create_jid
from evolution_simulator.ledger import Entry
from evolution_simulator.requests import Call, ExpressJSON
from evolution_simulator.scripts import Act, Receipts, Step
from evolution_simulator.simulator import Simulator

_METHODS = {
    "text": "textMessage",
    "image": "mediaMessage",
    "video": "mediaMessage",
    "document": "mediaMessage",
    "audio": "mediaMessage",
    "voice": "audioWhatsapp",
    "sticker": "mediaSticker",
    "buttons": "buttonMessage",
    "list": "listMessage",
}
"""What the gateway calls on an instance for each kind, and names when there is no instance."""

_CUT_ANSWER = b'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"key":{"remoteJ'

_BAD_GATEWAY_PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n"
    "<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A valid send; `number` is as requested, `content` the message body where it is not plain text.

    `payload` tells the ledger what was asked for beyond the text, in the request's words and without file contents.
    """

    instance: Instance
    number: str
    jid: str
    text: str
    delay_ms: float
    kind: str = "text"
    payload: dict[str, Any] | None = None
    message_type: str = "conversation"
    content: dict[str, Any] | None = None
    reserved_id: str | None = None


def not_on_whatsapp(jid: str, number: str) -> dict[str, Any]:
    return {"jid": jid, "exists": False, "number": number}


Accepted = Literal[
    Act.ACCEPT,
    Act.SLOW,
    Act.ACCEPT_THEN_HANG,
    Act.ACCEPT_THEN_RESET,
    Act.ACCEPT_THEN_CLOSE,
    Act.ACCEPT_THEN_CUT,
    Act.ERROR_500_AFTER_SEND,
    Act.ERROR_400_AFTER_SEND,
    Act.ERROR_400_PRISMA_AFTER_SEND,
]
Refused = Literal[Act.REFUSE_NOT_EXISTS, Act.REFUSE_SCHEMA, Act.ERROR_500, Act.ERROR_400_CLOSED]


async def carry_out(simulator: Simulator, request: Request, send: Send) -> Response:
    """Answer a send; whatever was accepted is in the ledger before a byte of the answer leaves."""
    refuse_while_unfit(simulator, send)
    step, receipts = simulator.scripts.take(send.instance.name, send.number, send.jid)
    simulator.acts[step.act] += 1
    match step.act:
        case Act.REFUSE_NOT_EXISTS | Act.REFUSE_SCHEMA | Act.ERROR_500 | Act.ERROR_400_CLOSED as refused:
            raise _refusal(refused, step, send)
        case Act.HTML_502:
            return HTMLResponse(_BAD_GATEWAY_PAGE, 502)
        case Act.RATE_LIMITED_429:
            return _rate_limited(step)
        case Act.HANG:
            await _until_gone(request, step.seconds)
            return await _reset(request)
        case Act.RESET_BEFORE:
            return await _reset(request)
        case Act.CLOSE_BEFORE:
            return await _close(request)
        case _ as accepted:
            body = await _accept(simulator, send, step, receipts)
            return await _answer_accepted(accepted, request, step, body)


def _refusal(act: Refused, step: Step, send: Send) -> EvolutionError:
    match act:
        case Act.REFUSE_NOT_EXISTS:
            return errors.bad_request(not_on_whatsapp(send.jid, send.number))
        case Act.REFUSE_SCHEMA:
            return errors.schema_violation(['instance requires property "text"'])
        case Act.ERROR_500:
            return errors.internal_error(step.message)
        case Act.ERROR_400_CLOSED:
            return errors.bad_request(f"Error: {errors.CONNECTION_CLOSED}")
    assert_never(act)


def refuse_while_unfit(simulator: Simulator, send: Send) -> None:
    """The same fault has two statuses: 400 where the number's existence is cached, else 500."""
    is_cached = (send.instance.name, send.jid) in simulator.known_addresses
    match simulator.faults.of(send.instance.name):
        case Fault.NOT_LOADED:
            simulator.acts["not_loaded"] += 1
            raise errors.internal_error(errors.reading(_METHODS[send.kind]))
        case Fault.NEVER_CONNECTED:
            simulator.acts["never_connected"] += 1
            if is_cached:
                raise errors.bad_request(f"TypeError: {errors.reading('sendMessage')}")
            raise errors.internal_error(errors.reading("onWhatsApp"))
        case fault if fault is Fault.ZOMBIE or send.instance.state is not State.OPEN:
            simulator.acts["connection_closed"] += 1
            if is_cached:
                raise errors.bad_request(f"Error: {errors.CONNECTION_CLOSED}")
            raise errors.internal_error(errors.CONNECTION_CLOSED)


async def _accept(simulator: Simulator, send: Send, step: Step, receipts: Receipts) -> dict[str, Any]:
    if step.act is Act.SLOW:
        await asyncio.sleep(step.ms / 1000)
    await typing_delay(simulator, send.delay_ms)
    return await simulator.accept(_entry(simulator, send, step), receipts)


async def _answer_accepted(act: Accepted, request: Request, step: Step, body: dict[str, Any]) -> Response:
    match act:
        case Act.ACCEPT | Act.SLOW:
            return ExpressJSON(body, 201)
        case Act.ACCEPT_THEN_HANG:
            await _until_gone(request, step.seconds)
            return ExpressJSON(body, 201)
        case Act.ACCEPT_THEN_RESET:
            return await _reset(request)
        case Act.ACCEPT_THEN_CLOSE:
            return await _close(request)
        case Act.ACCEPT_THEN_CUT:
            return await _close(request, _CUT_ANSWER)
        case Act.ERROR_400_AFTER_SEND:
            raise errors.bad_request(step.message)
        case Act.ERROR_500_AFTER_SEND:
            raise errors.internal_error(step.message)
        case Act.ERROR_400_PRISMA_AFTER_SEND:
            raise errors.bad_request(errors.PRISMA_AFTER_SEND)
    assert_never(act)


def _entry(simulator: Simulator, send: Send, step: Step) -> Entry:
    return Entry(
        seq=simulator.ledger.next_seq(),
        at=datetime.now(UTC).isoformat(),
        instance=send.instance.name,
        key_id=send.reserved_id or ids.new_key_id(step.key_prefix),
        number=send.number,
        jid=send.jid,
        text=send.text,
        outcome=step.act,
        kind=send.kind,
        payload=send.payload,
        message_type=send.message_type,
        content=send.content,
    )


def _rate_limited(step: Step) -> Response:
    body = {"status": 429, "error": "Too Many Requests", "response": {"message": ["Too many requests"]}}
    headers = {} if step.retry_after is None else {"Retry-After": step.retry_after}
    return ExpressJSON(body, 429, headers)


async def _reset(request: Request) -> Response:
    await connection.reset(request)
    return Response()


async def _close(request: Request, partial: bytes = b"") -> Response:
    await connection.close(request, partial)
    return Response()


async def _until_gone(request: Request, seconds: float) -> None:
    """Keep the caller waiting; a caller who hangs up frees the connection at once."""
    with suppress(TimeoutError):
        await asyncio.wait_for(connection.gone(request), seconds)


async def typing_delay(simulator: Simulator, delay_ms: float) -> None:
    """Block for a caller's `delay`, which the original leaves unbounded and we do not."""
    await asyncio.sleep(min(max(0, delay_ms), simulator.settings.delay_seconds_max * 1000) / 1000)


def send_to(call: Call, text: str, *, may_choose_id: bool = False) -> Send:
    """What every send has in common. From 2.4 on some take the message's id from the caller; no id is ever refused."""
    number, reserved = call.body["number"], call.body.get("messageId")
    is_chosen = may_choose_id and call.simulator.settings.takes_ids and isinstance(reserved, str) and reserved != ""
    return Send(
        instance=call.instance,
        number=number,
        jid=create_jid(number),
        text=text,
        delay_ms=call.body.get("delay") or 0,
        reserved_id=reserved if is_chosen else None,
    )
