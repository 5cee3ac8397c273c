"""The body customers receive: schema v3 of the published webhook contract, serialised once."""

import json
import re
from datetime import UTC, datetime
from typing import Any

from contracts.errors import SENTENCES
from contracts.facts import MessageStatusChanged
from contracts.parts import Media, MediaType
from contracts.status import Status
from contracts.values import MessageContent

UNNAMED_FAILURE = "The message failed."
_DIGITS = re.compile(r"\d{8,15}")


def body_of(fact: MessageStatusChanged, event: str, content: MessageContent | None) -> bytes:
    """The exact bytes to sign and send. Without `content` (nothing is kept) the recipient is an empty string.

    Optional keys are left out rather than null: the official SDK's parser refuses null everywhere but in `messageId`.
    """
    data: dict[str, Any] = {
        "numberId": str(fact.ref.number_id),
        "id": str(fact.ref.message_id),
        "createdAt": iso_ms(fact.changed_at),
        "to": f"+{content.to}" if content else "",
        "fromMe": True,
        "messageId": fact.key_id,
        "type": _type_of(content),
        "correlationId": fact.ref.correlation_id,
        "status": fact.status.value,
        "version": fact.version,
        **(_said(content) if content else {}),
        **(_failure(fact) if fact.status is Status.FAILED else {}),
    }
    return json.dumps({"event": event, "data": data}, ensure_ascii=False, separators=(",", ":")).encode()


def iso_ms(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, as JavaScript writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _type_of(content: MessageContent | None) -> str:
    """One of the parser's words: it knows neither buttons nor lists, and a voice note is audio to it."""
    part = content.part if content else None
    if not isinstance(part, Media):
        return "text"
    return MediaType.AUDIO if part.media_type is MediaType.VOICE else part.media_type


def _said(content: MessageContent) -> dict[str, Any]:
    sender = (content.sender or "").removeprefix("+")
    said: dict[str, Any] = {"from": f"+{sender}"} if _DIGITS.fullmatch(sender) else {}
    if not isinstance(content.part, Media):
        return {**said, "content": content.text}
    optional = {"mediaCaption": content.text, "mediaFilename": content.part.file_name}
    return {**said, "mediaType": _type_of(content), **{name: value for name, value in optional.items() if value}}


def _failure(fact: MessageStatusChanged) -> dict[str, Any]:
    if fact.error_code is None:
        return {"error": UNNAMED_FAILURE}
    sentence = SENTENCES[fact.error_code]
    return {"error": sentence, "errorCode": fact.error_code.value, "errorMessage": sentence}
