"""Sending text: POST /message/sendText."""

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors, schema
from evolution_simulator.requests import Call, for_instance
from evolution_simulator.sending import carry_out, send_to

_TEXT_CHECKS = {**schema.SEND_CHECKS, "text": schema.text, "linkPreview": schema.boolean}


@for_instance
async def send_text(call: Call) -> Response:
    found = schema.problems(call.body, _TEXT_CHECKS, required=("number", "text"))
    if found:
        raise errors.schema_violation(found)
    text = call.body["text"]
    if not text.strip():
        raise errors.bad_request("Text is required")
    send = send_to(call, text, may_choose_id=True)
    return await carry_out(call.simulator, call.request, send)


ROUTES = [Route("/message/sendText/{instance}", send_text, methods=["POST"])]
