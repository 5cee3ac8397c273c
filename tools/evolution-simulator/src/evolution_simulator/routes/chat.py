"""Presence and look-ups: the /chat endpoints with the quirks of their filters and errors."""

import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors, schema
from evolution_simulator.faults import Fault
from evolution_simulator.instances import State
from evolution_simulator.jid import create_jid
from evolution_simulator.requests import Call, ExpressJSON, for_instance
from evolution_simulator.scripts import Act
from evolution_simulator.sending import not_on_whatsapp, typing_delay

_PRESENCE_CHECKS: Mapping[str, schema.Check] = {
    "number": schema.number,
    "delay": schema.milliseconds,
    "presence": schema.one_of(schema.PRESENCES),
}
_PAGE_SIZE = 50


@for_instance
async def send_presence(call: Call) -> Response:
    found = schema.problems(call.body, _PRESENCE_CHECKS, required=("number", "presence", "delay"))
    if found:
        raise errors.schema_violation(found)
    fault = _fault(call, "sendPresence")
    if fault is Fault.NEVER_CONNECTED:
        raise errors.bad_request(f"TypeError: {errors.reading('onWhatsApp')}")
    if fault is Fault.ZOMBIE or call.instance.state is not State.OPEN:
        raise errors.bad_request(f"Error: {errors.CONNECTION_CLOSED}")
    if not _exists(call, call.body["number"]):
        raise errors.bad_request("[object Object]")
    await typing_delay(call.simulator, call.body["delay"])
    return ExpressJSON({"presence": call.body["presence"]}, 201)


@for_instance
async def find_messages(call: Call) -> Response:
    _fault(call, "fetchMessages")
    rows = call.simulator.messages.find(call.instance, _object(call.body.get("where")))
    page, size = _page(call.body)
    records = rows[(page - 1) * size : page * size]
    pages = math.ceil(len(rows) / size)
    found = {"total": len(rows), "pages": pages, "currentPage": page, "records": records}
    return ExpressJSON({"messages": found})


@for_instance
async def find_status_message(call: Call) -> Response:
    _fault(call, "fetchStatusMessage")
    rows = call.simulator.messages.find_statuses(call.instance, _object(call.body.get("where")))
    page, size = _page(call.body)
    return ExpressJSON(rows[(page - 1) * size : page * size])


@for_instance
async def whatsapp_numbers(call: Call) -> Response:
    checks = {"numbers": schema.list_of(schema.text, at_least=1, unique=True)}
    found = schema.problems(call.body, checks, required=("numbers",))
    if found:
        raise errors.without_response_envelope(found)
    fault = call.simulator.faults.of(call.instance.name)
    if fault in (Fault.NOT_LOADED, Fault.NEVER_CONNECTED):
        raise errors.EvolutionError(400, {})
    if fault is Fault.ZOMBIE or call.instance.state is not State.OPEN:
        raise errors.EvolutionError(400, errors.BOOM_CONNECTION_CLOSED)
    return ExpressJSON([_looked_up(call, number) for number in call.body["numbers"]])


def _looked_up(call: Call, number: str) -> dict[str, Any]:
    jid = create_jid(number)
    if not _exists(call, number):
        return not_on_whatsapp(jid, number)
    call.simulator.known_addresses.add((call.instance.name, jid))
    return {"jid": jid, "exists": True, "number": number}


def _fault(call: Call, method: str) -> Fault | None:
    """What is wrong with the number; one that is not in memory cannot even be asked."""
    fault = call.simulator.faults.of(call.instance.name)
    if fault is Fault.NOT_LOADED:
        raise errors.internal_error(errors.reading(method))
    return fault


def _exists(call: Call, number: str) -> bool:
    """A number whose next send would be refused as not existing does not exist here either."""
    step = call.simulator.scripts.peek(call.instance.name, number, create_jid(number))
    return step.act is not Act.REFUSE_NOT_EXISTS


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _page(body: Mapping[str, Any]) -> tuple[int, int]:
    """`page` and its size, which the gateway calls `offset`."""
    return _positive(body.get("page"), 1), _positive(body.get("offset"), _PAGE_SIZE)


def _positive(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise


ROUTES = [
    Route("/chat/sendPresence/{instance}", send_presence, methods=["POST"]),
    Route("/chat/findMessages/{instance}", find_messages, methods=["POST"]),
    Route("/chat/findStatusMessage/{instance}", find_status_message, methods=["POST"]),
    Route("/chat/whatsappNumbers/{instance}", whatsapp_numbers, methods=["POST"]),
]
