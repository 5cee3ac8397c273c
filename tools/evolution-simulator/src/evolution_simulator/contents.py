"""What WhatsApp's messages of each kind look like from inside the gateway, made up where only WhatsApp would know."""

import base64
import hashlib
import json
import mimetypes
import re
from collections.abc import Mapping
from typing import Any

_CONTENT_HOST = "https://mmg.whatsapp.net"
_JPEG, _WEBP, _VOICE = "image/jpeg", "image/webp", "audio/ogg; codecs=opus"
_NATIVE_FLOWS = {
    "reply": "quick_reply",
    "copy": "cta_copy",
    "url": "cta_url",
    "call": "cta_call",
    "pix": "payment_info",
}
BUTTON_TYPES = tuple(_NATIVE_FLOWS)
_SINGLE_SELECT = 2
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def is_base64(reference: str) -> bool:
    """Plain, padded and in one piece: anything else the gateway does not take, a data URI least of all."""
    return reference != "" and _BASE64.fullmatch(reference) is not None


def summary_of(reference: str) -> str:
    """A URL as it is; base64 only by its size, so that a ledger line stays short."""
    return f"base64:{len(reference.rstrip('=')) * 3 // 4}" if is_base64(reference) else reference


def media(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The message of sendMedia; a picture always becomes a JPEG."""
    name = body.get("fileName") or {"image": "image.jpg", "video": "video.mp4"}.get(kind)
    mime_type = _JPEG if kind == "image" else body.get("mimetype") or mimetypes.guess_type(name or "")[0]
    content = {**_stored(kind, body["media"]), "mimetype": mime_type or "false"}
    content |= {"caption": body["caption"]} if body.get("caption") else {}
    content |= {"fileName": name, "title": name} if kind == "document" and name else {}
    return {f"{kind}Message": content}


def voice(reference: str) -> dict[str, Any]:
    return {"audioMessage": {**_stored("audio", reference), "mimetype": _VOICE, "seconds": 3, "ptt": True}}


def sticker(reference: str) -> dict[str, Any]:
    return {"stickerMessage": {**_stored("sticker", reference), "mimetype": _WEBP, "isAnimated": False}}


def buttons(body: Mapping[str, Any], *, wrapped: bool = True) -> dict[str, Any]:
    """2.3.7 hides buttons in a message to be viewed once, 2.4 does not; a missing title reads *undefined*."""
    flows = [
        {"name": _NATIVE_FLOWS[button["type"]], "buttonParamsJson": _parameters(button)} for button in body["buttons"]
    ]
    interactive: dict[str, Any] = {
        "body": {"text": text_of_buttons(body)},
        "footer": {"text": body["footer"]} if body.get("footer") else {},
        "nativeFlowMessage": {"buttons": flows, "messageParamsJson": json.dumps({"from": "api"})},
    }
    if body.get("thumbnailUrl"):
        picture = {**_stored("image", body["thumbnailUrl"]), "mimetype": _JPEG}
        interactive["header"] = {"hasMediaAttachment": True, "imageMessage": picture}
    message = {"interactiveMessage": interactive}
    return {"viewOnceMessage": {"message": message}} if wrapped else message


def text_of_buttons(body: Mapping[str, Any]) -> str:
    title = f"*{body.get('title', 'undefined')}*"
    return f"{title}\n\n{body['description']}\n" if body.get("description") else title


def menu(body: Mapping[str, Any]) -> dict[str, Any]:
    names = ("title", "description", "buttonText", "footerText", "sections")
    return {"listMessage": {**{name: body[name] for name in names if name in body}, "listType": _SINGLE_SELECT}}


def _parameters(button: Mapping[str, Any]) -> str:
    names = {"displayText": "display_text", "id": "id", "url": "url", "phoneNumber": "phone_number"}
    names["copyCode"] = "copy_code"
    return json.dumps({names[name]: value for name, value in button.items() if name in names})


def _stored(kind: str, reference: str) -> dict[str, Any]:
    """Where WhatsApp would keep the encrypted file, with keys derived from the reference so that restarts agree."""
    digest = hashlib.sha256(f"{kind}:{reference}".encode()).digest()
    path = f"/v/t62.7118-24/{digest.hex()[:24]}.enc"
    return {
        "url": f"{_CONTENT_HOST}{path}?mms3=true",
        "directPath": path,
        "fileSha256": base64.b64encode(digest).decode(),
        "fileEncSha256": base64.b64encode(digest[::-1]).decode(),
        "mediaKey": base64.b64encode(hashlib.sha256(digest).digest()).decode(),
        "fileLength": str(1_024 + digest[0]),
    }
