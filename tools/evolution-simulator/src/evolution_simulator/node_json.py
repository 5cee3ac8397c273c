"""JSON as Node reads and writes it: the wording of its parser's errors, and lone surrogates kept as escapes."""

import json
from typing import Any, NoReturn


class MalformedJsonError(ValueError):
    """The text is no JSON; the message is V8's."""


def decode(raw: bytes) -> Any:
    """Parse strictly, as JavaScript does: no NaN, no Infinity; raises MalformedJsonError."""
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except json.JSONDecodeError as failure:
        raise MalformedJsonError(_v8_wording(failure)) from None
    except (ValueError, RecursionError):
        raise MalformedJsonError("Unexpected token in JSON at position 0") from None


def encode(content: Any) -> bytes:
    """Compact UTF-8; where a string is not valid Unicode, everything beyond ASCII is escaped."""
    try:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(content, separators=(",", ":")).encode()


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _v8_wording(failure: json.JSONDecodeError) -> str:
    """What Node 20 says where Python's parser stops."""
    position = failure.pos
    if failure.msg.startswith("Expecting property name"):
        return f"Expected property name or '}}' in JSON at position {position}"
    if failure.msg.startswith("Expecting ',' delimiter"):
        return f"Expected ',' or '}}' after property value in JSON at position {position}"
    if failure.msg.startswith("Expecting ':' delimiter"):
        return f"Expected ':' after property name in JSON at position {position}"
    if failure.msg.startswith("Unterminated string"):
        return f"Unterminated string in JSON at position {len(failure.doc)}"
    if failure.msg.startswith("Extra data"):
        return f"Unexpected non-whitespace character after JSON at position {position}"
    if position >= len(failure.doc):
        return "Unexpected end of JSON input"
    return f"Unexpected token '{failure.doc[position]}' in JSON at position {position}"
