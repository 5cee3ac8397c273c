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
from evolution_simulator.instances import Instance, State
from evolution_simulator.jid import create_jid
from evolution_simulator.ledger import Entry
from evolution_simulator.requests import ExpressJSON
from evolution_simulator.scripts import Act, Receipts, Step
from evolution_simulator.simulator import Simulator

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


def not_on_whatsapp(jid: str, number: str) -> dict[str, Any]:
    return {"jid": jid, "exists": False, "number": number}


Accepted = Literal[
    Act.ACCEPT,
    Act.SLOW,
    Act.ACCEPT_THEN_HANG,
    Act.ACCEPT_THEN_RESET,
    Act.ERROR_500_AFTER_SEND,
    Act.ERROR_400_PRISMA_AFTER_SEND,
]
Refused = Literal[Act.REFUSE_NOT_EXISTS, Act.REFUSE_SCHEMA, Act.ERROR_500, Act.ERROR_400_CLOSED]


async def carry_out(simulator: Simulator, request: Request, send: Send) -> Response:
    """Answer a send; whatever was accepted is in the ledger before a byte of the answer leaves."""
    refuse_while_closed(simulator, send)
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


def refuse_while_closed(simulator: Simulator, send: Send) -> None:
    """The same fault has two statuses: 400 where the number's existence is cached, else 500."""
    if send.instance.state is State.OPEN:
        return
    simulator.acts["connection_closed"] += 1
    if (send.instance.name, send.jid) in simulator.known_addresses:
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
        key_id=ids.new_key_id(step.key_prefix),
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


async def _until_gone(request: Request, seconds: float) -> None:
    """Keep the caller waiting; a caller who hangs up frees the connection at once."""
    with suppress(TimeoutError):
        await asyncio.wait_for(connection.gone(request), seconds)


async def typing_delay(simulator: Simulator, delay_ms: float) -> None:
    """Block for a caller's `delay`, which the original leaves unbounded and we do not."""
    await asyncio.sleep(min(max(0, delay_ms), simulator.settings.delay_seconds_max * 1000) / 1000)


def send_to(instance: Instance, number: str, text: str, delay_ms: float | None) -> Send:
    return Send(instance=instance, number=number, jid=create_jid(number), text=text, delay_ms=delay_ms or 0)
