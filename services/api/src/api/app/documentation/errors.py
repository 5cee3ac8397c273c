"""Errors in the document: one schema for all of them, and per route their statuses, codes and examples."""

from collections import defaultdict
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from api.app.documentation.refused import refusals_of
from api.refusals import Refusal

_EVERYWHERE: Final = ((400, "VALIDATION_FAILED"), (503, "SERVICE_UNAVAILABLE"), (503, "OVERLOADED"))
_WITH_BODY: Final = ((400, "MALFORMED_JSON"), (408, "REQUEST_TIMEOUT"), (413, "PAYLOAD_TOO_LARGE"))
_SENTENCES: Final[Mapping[str, str]] = {
    "VALIDATION_FAILED": "A field does not have the documented form; `details` says which.",
    "SERVICE_UNAVAILABLE": "The service cannot do this right now. Nothing was changed; try again shortly.",
    "OVERLOADED": "Too many requests at once; try again shortly.",
    "MALFORMED_JSON": "The body is not valid JSON; `line` and `column` say where.",
    "REQUEST_TIMEOUT": "The body did not arrive in time.",
    "PAYLOAD_TOO_LARGE": "The body is larger than `maxBytes`.",
}
_SHARED: Final = (
    (400, {"VALIDATION_FAILED"}),
    (400, {"MALFORMED_JSON", "VALIDATION_FAILED"}),
    (401, {"API_KEY_INVALID"}),
    (401, {"OPERATOR_KEY_INVALID"}),
    (403, {"OPERATOR_ROLE_NOT_ALLOWED"}),
    (403, {"TENANT_SCOPE_NOT_ALLOWED"}),
    (404, {"NUMBER_NOT_FOUND"}),
    (408, {"REQUEST_TIMEOUT"}),
    (413, {"PAYLOAD_TOO_LARGE"}),
    (429, {"RATE_LIMITED"}),
    (503, {"OVERLOADED", "SERVICE_UNAVAILABLE"}),
)
RATE_HEADERS: Final[Mapping[str, Any]] = {
    "RateLimit-Policy": {
        "description": "Requests a minute that the plan allows this key, if it limits them.",
        "schema": {"type": "string"},
        "example": '"requests";q=600;w=60',
    },
    "RateLimit": {
        "description": "Requests left, and seconds until all are there again.",
        "schema": {"type": "string"},
        "example": '"requests";r=599;t=1',
    },
}
"""On every answer to a client whose key was let in."""
_WAITING: Final = {"retry-after": {"description": "In seconds.", "schema": {"type": "string"}}}


def error_responses(operation: str, *, has_body: bool) -> dict[str, Any]:
    """The errors of a route by status; what many routes have in common is a reference to `shared_responses`."""
    by_status: dict[int, set[str]] = defaultdict(set)
    for status, code in (*_EVERYWHERE, *(_WITH_BODY if has_body else ())):
        by_status[status].add(code)
    for refusal in refusals_of(operation):
        by_status[refusal.value[0]].add(refusal.name)
    return {str(status): _response_or_reference(status, codes) for status, codes in sorted(by_status.items())}


def shared_responses() -> dict[str, Any]:
    """Errors that many routes have in common."""
    return {_name(status, codes): _response(status, codes) for status, codes in _SHARED}


def _response_or_reference(status: int, codes: set[str]) -> dict[str, Any]:
    if (status, codes) in _SHARED:
        return {"$ref": f"#/components/responses/{_name(status, codes)}"}
    return _response(status, codes)


def _name(status: int, codes: set[str]) -> str:
    return f"{status}_{'_or_'.join(sorted(codes))}"


def _response(status: int, codes: set[str]) -> dict[str, Any]:
    schema = {
        "allOf": [{"$ref": "#/components/schemas/Error"}],
        "properties": {"code": {"type": "string", "enum": sorted(codes)}},
    }
    examples = {code: {"$ref": f"#/components/examples/{code}"} for code in sorted(codes)}
    response: dict[str, Any] = {
        "description": f"{HTTPStatus(status).phrase}: {', '.join(sorted(codes))}",
        "content": {"application/json": {"schema": schema, "examples": examples}},
    }
    if status in (429, 503):
        response["headers"] = _WAITING
    return response


def error_examples() -> dict[str, Any]:
    """One answer for every code."""
    found = {refusal.name: (refusal.value[0], refusal.value[1]) for refusal in Refusal}
    found |= {code: (status, _SENTENCES[code]) for status, code in (*_EVERYWHERE, *_WITH_BODY)}
    return {code: {"value": _example(status, code, sentence)} for code, (status, sentence) in sorted(found.items())}


def _example(status: int, code: str, sentence: str) -> dict[str, Any]:
    request_id = "0198c0de-0000-7000-8000-0000000000ff"
    return {
        "error": sentence,
        "code": code,
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": sentence,
        "instance": f"urn:request:{request_id}",
        "requestId": request_id,
    }


ERROR: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "Every error has this form; some have further members. The names of RFC 9457 are there too.",
    "required": ["error", "code", "type", "title", "status", "detail", "instance", "requestId"],
    "properties": {
        "error": {"type": "string", "minLength": 1, "description": "A sentence for people; never repeats input."},
        "code": {"type": "string", "description": "Stable, for machines."},
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "requestId": {"type": "string"},
        "traceId": {"type": "string"},
        "details": {
            "anyOf": [
                {
                    "type": "array",
                    "description": "Which fields are wrong.",
                    "items": {
                        "type": "object",
                        "required": ["field", "message"],
                        "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                    },
                },
                {"type": "object", "description": "With TEMPLATE_EXAMPLES_REQUIRED: `missing`, names of variables."},
            ]
        },
    },
}
