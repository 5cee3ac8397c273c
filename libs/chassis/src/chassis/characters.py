"""Finds text that JSON can spell and nothing behind this door can hold: U+0000, and half a surrogate pair."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from chassis.telemetry.redaction import mask

_FIELD_LENGTH_MAX: Final = 100
_NUL: Final = "the character U+0000 is never accepted"
_HALF: Final = "half a surrogate pair (a cut emoji?) is not text"


class Unfit(NamedTuple):
    """Where it is, as validation errors name fields (`variables.name`, `items.0`), and what is wrong there."""

    field: str
    message: str


def find_unfit(document: Any) -> Unfit | None:
    """The first unfit text of a parsed document; the name of a member counts as text of what holds the member."""
    for path, text in _texts(document):
        message = _judge(text)
        if message is not None:
            return Unfit(_field(path), message)
    return None


def find_half_pair(body: bytes) -> Unfit | None:
    """The first unfit text of a body that a strict parser refused; None if it was refused for something else."""
    try:
        return find_unfit(json.loads(body.decode()))
    except (ValueError, RecursionError):
        return None


def _judge(text: str) -> str | None:
    if "\x00" in text:
        return _NUL
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF
    return None


def _texts(document: Any) -> Iterator[tuple[tuple[object, ...], str]]:
    """Every text with its path, in the order of the document and without recursion."""
    pending: list[tuple[tuple[object, ...], Any]] = [((), document)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, dict):
            for name in item:
                yield path, name
            pending.extend(((*path, name), item[name]) for name in reversed(item))
        elif isinstance(item, list):
            pending.extend(((*path, index), item[index]) for index in reversed(range(len(item))))


def _field(path: tuple[object, ...]) -> str:
    return mask(".".join(str(part) for part in path))[:_FIELD_LENGTH_MAX]
