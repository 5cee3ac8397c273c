"""Explains a refused request field by field without repeating what the client sent."""

from collections.abc import Sequence
from typing import Any, Final

from fastapi.exceptions import RequestValidationError

from chassis.telemetry.redaction import mask

VALIDATION_FAILED: Final = "VALIDATION_FAILED"
MALFORMED_JSON: Final = "MALFORMED_JSON"

_DETAILS_MAX: Final = 50
_FIELD_LENGTH_MAX: Final = 100
_SOURCES: Final = frozenset({"body", "query", "path", "header", "cookie"})
_NOT_JSON: Final = "a JSON body is expected, with the header `content-type: application/json`"


def explain_validation(error: RequestValidationError) -> tuple[str, str, dict[str, Any]]:
    """Code, sentence and extras: `details` as `[{field, message}]`, or `line` and `column` of broken JSON."""
    items = error.errors()
    if len(items) == 1 and items[0].get("type") == "json_invalid":
        position = int(items[0]["loc"][-1])
        return explain_broken_json(str(error.body or ""), position)
    details = [{"field": _field(item["loc"]), "message": _message(item)} for item in items[:_DETAILS_MAX]]
    first = details[0] if details else {"field": "", "message": "the request is not valid"}
    sentence = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
    if len(items) > 1:
        sentence += f" (and {len(items) - 1} more, see details)"
    return VALIDATION_FAILED, sentence, {"details": details}


def explain_broken_json(document: str, position: int) -> tuple[str, str, dict[str, Any]]:
    """Line and column, from 1, of the character at which `document` stops being JSON."""
    line = document.count("\n", 0, position) + 1
    column = position - document.rfind("\n", 0, position)
    sentence = f"The body is not valid JSON: line {line}, column {column}."
    return MALFORMED_JSON, sentence, {"line": line, "column": column}


def _field(location: Sequence[int | str]) -> str:
    parts = list(location)
    if parts and parts[0] in _SOURCES:
        parts = parts[1:]
    return mask(".".join(str(part) for part in parts))[:_FIELD_LENGTH_MAX]


def _message(item: dict[str, Any]) -> str:
    kind, context = item.get("type", ""), item.get("ctx", {})
    if kind == "union_tag_invalid":
        return f"Expected one of {context.get('expected_tags', 'the known kinds')}"
    if kind in ("model_attributes_type", "dict_type") and tuple(item["loc"]) == ("body",):
        return _NOT_JSON
    if kind == "missing" and tuple(item["loc"]) == ("body",):
        return _NOT_JSON
    return str(item.get("msg", "not valid")).removeprefix("Value error, ").removeprefix("Assertion failed, ")
