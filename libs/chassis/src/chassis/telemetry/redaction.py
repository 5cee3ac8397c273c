"""Decides which values may appear in a log line or a span, because personal data must not."""

import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from logging import LogRecord
from types import TracebackType
from typing import Any, Final
from uuid import UUID

TEXT_LENGTH_MAX: Final = 200
_INTEGER_MAX: Final = 9_999_999_999
_FRAMES_MAX: Final = 30
_CAUSES_MAX: Final = 5
_MASK: Final = "***"
_PROSE: Final = "<text>"
_DIGIT_RUN: Final = re.compile(r"\+?\d(?:[\s().\-/]{0,2}\d){5,}")
_IDENTIFIER: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # UUID
    r"|(?=[0-9a-f]*[a-f])(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})"  # span id, trace id, SHA-256
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"  # RFC 3339
)
_SQLSTATE: Final = re.compile(r"[0-9A-Z]{5}")

LogValue = str | int | float | bool | None


def mask(text: str) -> str:
    """Bound a text and hide whatever could be a phone number: six or more digits, however spaced."""
    return _DIGIT_RUN.sub(_MASK, text[:TEXT_LENGTH_MAX])


def safe_value(value: object) -> LogValue:
    """A bounded scalar: codes and ids pass, phone numbers are masked, prose and whole objects are only named."""
    match value:
        case None | bool() | float():
            return value
        case UUID():
            return str(value)
        case datetime() | date():
            return value.isoformat()
        case Enum():
            return safe_value(value.value)
        case int():
            return value if -_INTEGER_MAX <= value <= _INTEGER_MAX else _MASK
        case str():
            return _safe_text(value)
        case _:
            return f"<{type(value).__name__}>"


def describe_error(error: BaseException) -> Mapping[str, Any]:
    """Types and codes of an exception and its causes; never its message, which may quote parameters."""
    described: dict[str, Any] = {"error_type": _type_name(error)}
    causes = [_type_name(cause) for cause in _causes(error)]
    if causes:
        described["caused_by"] = causes
    for link in (error, *_causes(error)):
        sqlstate = getattr(link, "sqlstate", None)
        if isinstance(sqlstate, str) and _SQLSTATE.fullmatch(sqlstate):
            described["sqlstate"] = sqlstate
        if isinstance(link, OSError) and isinstance(link.errno, int):
            described["errno"] = link.errno
    return described


def stack_of(error_traceback: TracebackType | None) -> list[str]:
    """Where an exception came from, innermost last: `package/module.py:line function`, without source text."""
    frames = traceback.StackSummary.extract(traceback.walk_tb(error_traceback), lookup_lines=False)
    return [f"{_short_path(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames[-_FRAMES_MAX:]]


def foreign_message(record: LogRecord) -> str | None:
    """The message of a library's record if it is a literal in the library's code, else None.

    Its arguments are left out, and so is a text put together before the call: nobody can tell what such a text holds.
    """
    if not isinstance(record.msg, str):
        return None
    frame = sys._getframe()
    caller = frame.f_back
    while caller is not None:
        if caller.f_code.co_filename == record.pathname and caller.f_lineno == record.lineno:
            return mask(record.msg) if record.msg in caller.f_code.co_consts else None
        caller = caller.f_back
    return None


def _safe_text(value: str) -> str:
    if _IDENTIFIER.fullmatch(value):
        return value
    if any(character.isspace() for character in value):
        return _PROSE
    return mask(value).encode("utf-8", "replace").decode()


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen = {id(error)}
    link: BaseException | None = error
    for _ in range(_CAUSES_MAX):
        link = _next_cause(link) if link is not None else None
        if link is None or id(link) in seen:
            return
        seen.add(id(link))
        yield link


def _next_cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _short_path(path: str) -> str:
    return "/".join(path.replace("\\", "/").split("/")[-3:])
