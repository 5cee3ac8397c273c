"""Sending: POST /message/sendText and /message/sendButtons."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors, schema
from evolution_simulator.requests import Call, for_instance
from evolution_simulator.sending import carry_out, send_to

_COMMON_CHECKS: Mapping[str, schema.Check] = {
    "number": schema.number,
    "delay": schema.milliseconds,
    "quoted": schema.mapping,
    "everyOne": schema.boolean,
    "mentioned": schema.list_of(schema.text, at_least=1, unique=True),
}
_TEXT_CHECKS = {**_COMMON_CHECKS, "text": schema.text, "linkPreview": schema.boolean}
_NATIVE_FLOWS = {
    "reply": "quick_reply",
    "copy": "cta_copy",
    "url": "cta_url",
    "call": "cta_call",
    "pix": "payment_info",
}
_REPLY_BUTTONS_MAX = 3
_BUTTON_TYPE = schema.one_of(_NATIVE_FLOWS)


@for_instance
async def send_text(call: Call) -> Response:
    found = schema.problems(call.body, _TEXT_CHECKS, required=("number", "text"))
    if found:
        raise errors.schema_violation(found)
    text = call.body["text"]
    if not text.strip():
        raise errors.bad_request("Text is required")
    send = send_to(call.instance, call.body["number"], text, call.body.get("delay"))
    return await carry_out(call.simulator, call.request, send)


@for_instance
async def send_buttons(call: Call) -> Response:
    checks = {**_COMMON_CHECKS, "buttons": schema.list_of(_button)}
    found = schema.problems(call.body, checks, required=("number",))
    if found:
        raise errors.schema_violation(found)
    if "buttons" not in call.body:
        raise errors.internal_error("Cannot read properties of undefined (reading 'length')")
    _check_mix([button["type"] for button in call.body["buttons"]])
    text = _button_text(call.body)
    plain = send_to(call.instance, call.body["number"], text, call.body.get("delay"))
    send = replace(plain, message_type="viewOnceMessage", content=_view_once(call.body, text))
    return await carry_out(call.simulator, call.request, send)


def _button(name: str, value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [f"{name} is not of a type(s) object"]
    if "type" not in value:
        return [f'{name} requires property "type"']
    return _BUTTON_TYPE(f"{name}.type", value["type"])


def _check_mix(types: list[str]) -> None:
    if not types:
        raise errors.bad_request("At least one button is required")
    if "reply" in types:
        if len(types) > _REPLY_BUTTONS_MAX:
            raise errors.bad_request("Maximum of 3 reply buttons allowed")
        if set(types) != {"reply"}:
            raise errors.bad_request("Reply buttons cannot be mixed with other button types")
    if "pix" in types and len(types) > 1:
        raise errors.bad_request("Only one PIX button is allowed")


def _button_text(body: Mapping[str, Any]) -> str:
    title = f"*{body.get('title', 'undefined')}*"
    return f"{title}\n\n{body['description']}" if body.get("description") else title


def _view_once(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    buttons = [{"name": _NATIVE_FLOWS[button["type"]], "buttonParamsJson": "{}"} for button in body["buttons"]]
    interactive: dict[str, Any] = {"body": {"text": text}, "nativeFlowMessage": {"buttons": buttons}}
    if body.get("footer"):
        interactive["footer"] = {"text": body["footer"]}
    return {"viewOnceMessage": {"message": {"interactiveMessage": interactive}}}


ROUTES = [
    Route("/message/sendText/{instance}", send_text, methods=["POST"]),
    Route("/message/sendButtons/{instance}", send_buttons, methods=["POST"]),
]
