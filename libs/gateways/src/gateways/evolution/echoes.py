"""Reads a sent message as Evolution repeats it: in the `send.message` webhook and in its message store."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice

from gateways.evolution.choices import words_of_buttons, words_of_list
from gateways.evolution.jids import lid_in, phone_in
from gateways.evolution.payloads import clean_text
from gateways.evolution.reply import key_id_of
from gateways.port import Echo, Ignored, Unreadable

_WRAPPERS = ("ephemeralMessage", "viewOnceMessage", "viewOnceMessageV2", "documentWithCaptionMessage")
_WRAPPERS_DEPTH_MAX = 4
_TEXT_PATHS = (
    ("conversation",),
    ("extendedTextMessage", "text"),
    ("buttonsMessage", "contentText"),
    ("imageMessage", "caption"),
    ("videoMessage", "caption"),
    ("documentMessage", "caption"),
)
_EPOCH_SECONDS_MIN = 1_230_768_000  # 2009, the year WhatsApp began
_EPOCH_SECONDS_MAX = 4_102_444_800  # 2100; anything above is milliseconds


def read_echo(instance: str, data: Mapping[str, object]) -> Echo | Ignored | Unreadable:
    """The proof in a `send.message`: which id, to whom, what text, when; what is absent stays None."""
    key = data.get("key")
    key_id = key_id_of(key)
    if not isinstance(key, Mapping) or key_id is None:
        return Unreadable(reason="key_missing")
    if key.get("fromMe") is False:
        return Ignored(reason="not_from_me")
    return Echo(
        instance=instance,
        key_id=key_id,
        recipient=phone_in(key, data),
        text=text_of(data.get("message")),
        sent_at=moment_of(data.get("messageTimestamp")),
        lid=lid_in(key, data),
    )


def text_of(message: object) -> str | None:
    """The words of a message content, through the wrappers WhatsApp puts around it; None if it has none."""
    for content in islice(_unwrapped(message), _WRAPPERS_DEPTH_MAX):
        chosen = words_of_buttons(_at(content, ("interactiveMessage",))) or words_of_list(
            _at(content, ("listMessage",))
        )
        if chosen is not None:
            return clean_text(chosen)
        for path in _TEXT_PATHS:
            found = _at(content, path)
            if isinstance(found, str) and found.strip():
                return clean_text(found)
    return None


def moment_of(value: object) -> datetime | None:
    """Epoch seconds as a number, a numeric string or a protobuf long `{low, high}`; None outside 2009-2100."""
    seconds = _number(value.get("low") if isinstance(value, Mapping) and not value.get("high") else value)
    if seconds is None:
        return None
    if seconds > _EPOCH_SECONDS_MAX:
        seconds /= 1000
    if not _EPOCH_SECONDS_MIN <= seconds <= _EPOCH_SECONDS_MAX:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC)


def _unwrapped(message: object) -> Iterator[object]:
    content = message
    while isinstance(content, Mapping):
        yield content
        content = next((inner for name in _WRAPPERS if (inner := _at(content, (name, "message"))) is not None), None)


def _at(content: object, path: tuple[str, ...]) -> object:
    for name in path:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value[:20] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
