"""Sending what can be tapped: POST /message/sendButtons and /message/sendList."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import contents, errors, schema
from evolution_simulator.requests import Call, for_instance
from evolution_simulator.sending import carry_out, send_to

_REPLY_BUTTONS_MAX = 3
_BUTTON_TYPE = schema.one_of(contents.BUTTON_TYPES)
_LIST_REQUIRED = ("number", "title", "footerText", "buttonText", "sections")


@for_instance
async def send_buttons(call: Call) -> Response:
    texts = dict.fromkeys(("thumbnailUrl", "title", "description", "footer"), schema.text)
    checks = {**schema.SEND_CHECKS, **texts, "buttons": schema.list_of(_button)}
    found = schema.problems(call.body, checks, required=("number",))
    if found:
        raise errors.schema_violation(found)
    if "buttons" not in call.body:
        raise errors.internal_error("Cannot read properties of undefined (reading 'length')")
    _check_mix([button["type"] for button in call.body["buttons"]])
    text = contents.text_of_buttons(call.body)
    plain = send_to(call, text)
    content = contents.buttons(call.body, wrapped=not call.simulator.settings.shows_buttons)
    send = replace(
        plain,
        kind="buttons",
        message_type=next(iter(content)),
        content=content,
        payload=_summary(call.body, "title", "description", "footer", "thumbnailUrl", "buttons"),
    )
    return await carry_out(call.simulator, call.request, send)


@for_instance
async def send_list(call: Call) -> Response:
    texts = dict.fromkeys(("title", "description", "footerText", "buttonText"), schema.text)
    checks = {**schema.SEND_CHECKS, **texts, "sections": schema.list_of(_section, at_least=1, unique=True)}
    found = schema.problems(call.body, checks, required=_LIST_REQUIRED)
    if found:
        raise errors.schema_violation(found)
    text = call.body.get("description", "")
    plain = send_to(call, text)
    send = replace(
        plain,
        kind="list",
        message_type="listMessage",
        content=contents.menu(call.body),
        payload=_summary(call.body, "title", "description", "footerText", "buttonText", "sections"),
    )
    return await carry_out(call.simulator, call.request, send)


def _summary(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    given = {name: body[name] for name in names if name in body}
    picture = given.get("thumbnailUrl")
    return given if picture is None else {**given, "thumbnailUrl": contents.summary_of(picture)}


def _button(name: str, value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [f"{name} is not of a type(s) object"]
    if "type" not in value:
        return [f'{name} requires property "type"']
    return _BUTTON_TYPE(f"{name}.type", value["type"])


def _section(name: str, value: Any) -> list[str]:
    rows = schema.list_of(_row, at_least=1, unique=True)
    return schema.fields(name, value, {"title": schema.filled_text, "rows": rows}, required=("title", "rows"))


def _row(name: str, value: Any) -> list[str]:
    checks = dict.fromkeys(("title", "description", "rowId"), schema.filled_text)
    return schema.fields(name, value, checks, required=("title", "rowId"))


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


ROUTES = [
    Route("/message/sendButtons/{instance}", send_buttons, methods=["POST"]),
    Route("/message/sendList/{instance}", send_list, methods=["POST"]),
]
