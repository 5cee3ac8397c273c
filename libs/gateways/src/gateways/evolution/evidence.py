"""From what Evolution answered to what is certain: a pure decision table in which what matches no row is `Unknown`."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

import httpx

from gateways.evolution.jids import phone_in
from gateways.evolution.redaction import redact
from gateways.evolution.reply import Reply, document, envelope_message, instance_unknown, key_id_of, message_key
from gateways.evolution.retry_after import parse_retry_after
from gateways.port import Answer, NotSent, NotSentReason, RefusalCode, Refused, Taken, Unknown, UnknownReason

_CONNECTION_CLOSED = re.compile(r"(?:Error: )?Connection Closed")
# The part of an instance that does not exist yet, by the name of the property Node could not read.
_NOT_LOADED = re.compile(
    r"(?:TypeError: )?Cannot read properties of (?:undefined|null) \(reading '(onWhatsApp|textMessage|sendMessage"
    r"|mediaMessage|audioWhatsapp|mediaSticker|buttonMessage|listMessage|waUploadToServer)'\)"
)
# A file that Evolution could not fetch (image, sticker, voice), or hand to WhatsApp's store: no message was made of it.
_FILE_NOT_FETCHED = re.compile(r"(?:AxiosError: )?Request failed with status code [1-5]\d\d")
_FILE_NOT_STORED = re.compile(r"(?:Error: )?Media upload failed on all hosts")
_FILE_UNUSABLE = re.compile(
    r"(?:Error: )?(?:Input buffer contains unsupported image format|ffmpeg exited with code \d{1,3}: .*)", re.DOTALL
)
# Baileys swallows the time-out of the existence query and answers undefined: long before anything is sent.
_EXISTENCE_UNANSWERED = re.compile(r"(?:TypeError: )?Cannot read properties of undefined \(reading 'find'\)")
_BODY_PARSER = re.compile(
    r"(?:Expected|Unexpected) .* in JSON(?: at position .*)?|Unexpected (?:.* is not valid JSON|end of JSON input)"
)
_RULES_OF_THE_API = (
    "Text is required",
    "Maximum of ",
    "At least one button is required",
    "Reply buttons cannot be mixed",
    "CTA buttons cannot be mixed",
    "Owned media must be a url",
    "For base64 the file name must be informed",
    "Method not available",
)
_GATEWAY_STATUSES = frozenset({502, 503, 504})


def judge_reply(reply: Reply, *, now: datetime, private: str = "") -> Answer:
    """The answer a reply stands for; `private` (recipient and text) is hidden from `detail`."""
    match reply.status:
        case status if 200 <= status < 300:
            return _judge_success(reply)
        case 400:
            return _judge_bad_request(reply, private=private)
        case 401 | 403:
            return Refused(code=RefusalCode.GATEWAY_AUTH_FAILED, detail=f"HTTP {reply.status}")
        case 404:
            return _judge_not_found(reply)
        case 413 if envelope_message(reply) is not None:
            return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="HTTP 413 body too large")
        case 429:
            wait = parse_retry_after(reply.retry_after, now=now)
            return NotSent(reason=NotSentReason.RATE_LIMITED, detail="HTTP 429", retry_after_seconds=wait)
        case 500:
            return _judge_server_error(reply, private=private)
        case 503 if _licence_required(reply):
            return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail="HTTP 503 licence required")
        case status if status in _GATEWAY_STATUSES:
            return _unclassified(reply, "from a proxy or a server that is going down")
        case _:
            return _unclassified(reply)


def judge_failure(error: Exception) -> Answer:
    """The answer an exception of the call stands for: no connection, nothing sent; anything later, who knows."""
    name = type(error).__name__
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.PoolTimeout() | httpx.UnsupportedProtocol():
            return NotSent(reason=NotSentReason.UNREACHABLE, detail=name)
        case httpx.TimeoutException() | TimeoutError():
            return Unknown(reason=UnknownReason.TIMEOUT, detail=name)
        case httpx.TransportError():
            return Unknown(reason=UnknownReason.CONNECTION_LOST, detail=name)
        case _:
            return Unknown(reason=UnknownReason.UNCLASSIFIED_ANSWER, detail=name)


def _judge_success(reply: Reply) -> Answer:
    key = message_key(reply)
    key_id = key_id_of(key)
    if key_id is None:
        detail = f"HTTP {reply.status} without a message key"
        return Unknown(reason=UnknownReason.UNREADABLE_ANSWER, detail=detail)
    return Taken(key_id=key_id, recipient=phone_in(key))


def _judge_not_found(reply: Reply) -> Answer:
    if instance_unknown(reply):
        return Refused(code=RefusalCode.INSTANCE_NOT_FOUND, detail="HTTP 404 instance does not exist")
    if any(text.startswith("Cannot POST ") for text in _texts(envelope_message(reply))):
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="HTTP 404 no such route")
    return _unclassified(reply)


def _judge_bad_request(reply: Reply, *, private: str) -> Answer:
    message = envelope_message(reply)
    items = message if isinstance(message, list) else []
    if any(isinstance(item, Mapping) and item.get("exists") is False for item in items):
        return Refused(code=RefusalCode.WHATSAPP_NOT_EXIST, detail="HTTP 400 exists: false")
    if items and all(isinstance(item, list) and item for item in items):
        problems = redact("; ".join(_texts(items)), private=private)
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail=problems)
    text = "; ".join(_texts(message))
    if isinstance(message, str) and _BODY_PARSER.fullmatch(message):
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="HTTP 400 malformed JSON")
    return _judge_thrown_text(reply, text, private=private)


def _judge_thrown_text(reply: Reply, text: str, *, private: str) -> Answer:
    """A 400's single text: thrown before, at or after the send, so only known words are proof."""
    if "PrismaClient" in text and "message.create" in text:
        return Unknown(reason=UnknownReason.STORED_AFTER_SEND_FAILED, detail="HTTP 400 message.create failed")
    if text.startswith(_RULES_OF_THE_API):
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail=redact(text, private=private))
    if text == "[object Object]":
        return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail="HTTP 400 metadata unavailable")
    if text == "SessionError: No sessions":
        return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail="HTTP 400 no sessions")
    if text in ("Timed Out", "Error: Timed Out"):
        return Unknown(reason=UnknownReason.TIMEOUT, detail=f"HTTP {reply.status} Timed Out")
    return _before_the_send(reply, text) or _unclassified(reply, redact(text, private=private))


def _judge_server_error(reply: Reply, *, private: str) -> Answer:
    """Evolution raises its own 500s before the send, yet only for known texts is that certainty worth a second send.

    A 500 was also seen after the message's echo, and `Timed Out` covers a socket write: both stay `Unknown`.
    """
    text = "; ".join(_texts(envelope_message(reply)))
    if text in ("Timed Out", "Error: Timed Out"):
        return Unknown(reason=UnknownReason.TIMEOUT, detail="HTTP 500 Timed Out")
    return _before_the_send(reply, text) or _unclassified(reply, redact(text, private=private))


def _before_the_send(reply: Reply, text: str) -> NotSent | Refused | None:
    """The texts that are only thrown while the message is still here, whichever status carries them."""
    if _CONNECTION_CLOSED.fullmatch(text):
        return NotSent(reason=NotSentReason.DISCONNECTED, detail=f"HTTP {reply.status} Connection Closed")
    if missing := _NOT_LOADED.fullmatch(text):
        return NotSent(reason=NotSentReason.INSTANCE_NOT_READY, detail=f"HTTP {reply.status} no {missing[1]}")
    if reply.status == 500 and _EXISTENCE_UNANSWERED.fullmatch(text):
        return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail="HTTP 500 existence query unanswered")
    return _about_the_file(reply, text)


def _about_the_file(reply: Reply, text: str) -> NotSent | Refused | None:
    if _FILE_NOT_STORED.fullmatch(text):
        return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail=f"HTTP {reply.status} media upload failed")
    if reply.status == 500 and _FILE_NOT_FETCHED.fullmatch(text):
        return NotSent(reason=NotSentReason.GATEWAY_ERROR, detail="HTTP 500 media could not be fetched")
    if reply.status == 500 and _FILE_UNUSABLE.fullmatch(text):
        return Refused(code=RefusalCode.GATEWAY_REFUSED, detail="HTTP 500 media is not of its type")
    return None


def _licence_required(reply: Reply) -> bool:
    body = document(reply)
    return isinstance(body, Mapping) and body.get("code") == "LICENSE_REQUIRED"


def _unclassified(reply: Reply, remark: str = "") -> Unknown:
    readable = document(reply) is not None
    reason = UnknownReason.UNCLASSIFIED_ANSWER if readable else UnknownReason.UNREADABLE_ANSWER
    return Unknown(reason=reason, detail=f"HTTP {reply.status} {remark}".strip()[:200])


def _texts(message: object) -> Iterable[str]:
    """The strings of an envelope's message: a text, a list of texts, or a list of lists of texts."""
    outer = message if isinstance(message, list) else [message]
    for item in outer:
        inner = item if isinstance(item, list) else [item]
        yield from (text for text in inner if isinstance(text, str))
