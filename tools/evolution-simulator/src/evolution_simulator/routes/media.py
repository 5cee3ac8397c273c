"""Sending files: POST /message/sendMedia, /message/sendWhatsAppAudio and /message/sendSticker."""

import re
from dataclasses import replace
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import contents, errors, schema
from evolution_simulator.requests import Call, for_instance
from evolution_simulator.sending import carry_out, send_to

_MEDIA_TYPES = ("image", "document", "video", "audio")
_URL_CHARS_MAX = 2_083
# What the gateway's validator takes for an address: a host with a dot, whatever stands for the scheme, no white space.
_URL = re.compile(r"(?:(?:https?|ftp)://)?(?:[^\s/:@?#.]+\.)+[^\s/:@?#.]+(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE)
_NOT_MEDIA = "Owned media must be a url or base64"
_NOT_VOICE = "Owned media must be a url, base64, or valid file with buffer"


@for_instance
async def send_media(call: Call) -> Response:
    texts = dict.fromkeys(("mimetype", "media", "fileName", "caption"), schema.text)
    checks = {**schema.SEND_CHECKS, "mediatype": schema.one_of(_MEDIA_TYPES), **texts}
    _check(call, checks, required=("number", "mediatype"))
    kind, reference = call.body["mediatype"], call.body.get("media", "")
    if kind == "document" and contents.is_base64(reference) and not call.body.get("fileName"):
        raise errors.bad_request("For base64 the file name must be informed.")
    _check_reference(reference, _NOT_MEDIA)
    names = ("mediatype", "mimetype", "fileName", "caption")
    payload = {name: call.body[name] for name in names if name in call.body}
    return await _send(call, kind, reference, contents.media(kind, call.body), payload)


@for_instance
async def send_whatsapp_audio(call: Call) -> Response:
    _check(call, {**schema.SEND_CHECKS, "audio": schema.text}, required=("number",))
    reference = call.body.get("audio", "")
    _check_reference(reference, _NOT_VOICE)
    return await _send(call, "voice", reference, contents.voice(reference), {})


@for_instance
async def send_sticker(call: Call) -> Response:
    _check(call, {**schema.SEND_CHECKS, "sticker": schema.text}, required=("number",))
    reference = call.body.get("sticker", "")
    _check_reference(reference, _NOT_MEDIA)
    return await _send(call, "sticker", reference, contents.sticker(reference), {})


def _check(call: Call, checks: dict[str, schema.Check], *, required: tuple[str, ...]) -> None:
    found = schema.problems(call.body, checks, required=required)
    if found:
        raise errors.schema_violation(found)


def _check_reference(reference: str, refusal: str) -> None:
    is_url = len(reference) <= _URL_CHARS_MAX and _URL.fullmatch(reference) is not None
    if not is_url and not contents.is_base64(reference):
        raise errors.bad_request(refusal)


async def _send(call: Call, kind: str, reference: str, content: dict[str, Any], payload: dict[str, Any]) -> Response:
    caption = call.body.get("caption", "") if kind in _MEDIA_TYPES else ""
    plain = send_to(call, caption, may_choose_id=kind != "voice")
    send = replace(
        plain,
        kind=kind,
        message_type=next(iter(content)),
        content=content,
        payload={"media": contents.summary_of(reference), **payload},
    )
    return await carry_out(call.simulator, call.request, send)


ROUTES = [
    Route("/message/sendMedia/{instance}", send_media, methods=["POST"]),
    Route("/message/sendWhatsAppAudio/{instance}", send_whatsapp_audio, methods=["POST"]),
    Route("/message/sendSticker/{instance}", send_sticker, methods=["POST"]),
]
