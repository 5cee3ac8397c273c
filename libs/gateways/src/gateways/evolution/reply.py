"""An HTTP answer of Evolution as a value, and the total functions that read its body."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# A link preview's thumbnail can push the echo of the message beyond any sane limit; the key always comes first.
_LEADING_KEY = re.compile(rb'\s*\{\s*"key"\s*:\s*(?=\{)')
_KEY_BYTES_MAX = 2_048
_INSTANCE_NOT_FOUND = re.compile(r'Instance "[^"]*" not found')
_KEY_ID = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer; `complete` is False when the body was longer than the reader's limit, or its end never came."""

    status: int
    body: bytes = field(default=b"", repr=False)
    complete: bool = True
    retry_after: str | None = None


def document(reply: Reply) -> object:
    """The body as JSON, or None when it is cut, is not JSON or nests absurdly."""
    if not reply.complete:
        return None
    return _loads(reply.body.decode("utf-8", errors="replace"))


def message_key(reply: Reply) -> Mapping[str, object] | None:
    """The `key` object of a sent message, also from a body that was cut after it."""
    body = document(reply)
    key = body.get("key") if isinstance(body, Mapping) else None
    if not reply.complete and (start := _LEADING_KEY.match(reply.body)):
        key = _leading_object(reply.body[start.end() : start.end() + _KEY_BYTES_MAX])
    return key if isinstance(key, Mapping) else None


def key_id_of(key: object) -> str | None:
    """WhatsApp's message id in a key object, None unless it is a plausible one."""
    value = key.get("id") if isinstance(key, Mapping) else None
    return value if is_key_id(value) else None


def is_key_id(value: object) -> bool:
    """Whether a value can be a WhatsApp message id: printable ASCII, bounded."""
    return isinstance(value, str) and _KEY_ID.fullmatch(value) is not None


def envelope_message(reply: Reply) -> object:
    """`response.message` of Evolution's own error envelope; None if the body is not that envelope."""
    body = document(reply)
    if not isinstance(body, Mapping) or body.get("status") != reply.status:
        return None
    response = body.get("response")
    return response.get("message") if isinstance(response, Mapping) else None


def instance_unknown(reply: Reply) -> bool:
    """Whether this is Evolution's own 404 for an instance it does not have (a proxy's 404 is not)."""
    message = envelope_message(reply)
    texts = message if isinstance(message, list) else [message]
    return reply.status == 404 and any(
        isinstance(text, str) and ("instance does not exist" in text or _INSTANCE_NOT_FOUND.fullmatch(text))
        for text in texts
    )


def _loads(text: str) -> object:
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _leading_object(prefix: bytes) -> object:
    try:
        found, _ = json.JSONDecoder().raw_decode(prefix.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return None
    leading: object = found
    return leading
