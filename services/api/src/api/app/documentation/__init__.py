"""Completes the OpenAPI document: errors, keys, examples of what to send and of what comes back."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from api.app.documentation.errors import ERROR, RATE_HEADERS, error_examples, error_responses, shared_responses
from api.app.documentation.requests import REQUESTS
from api.app.documentation.shapes import schema_of

Document = dict[str, Any]

_ANSWERS = Path(__file__).with_name("answers.json")
_OTHERWISE: dict[str, Any] = {"GET /v1/admin/numbers/{number_id}/lane": {"known": False}}
"""Answers that may be of another form than the example."""
_ABOUT = (
    "Sends WhatsApp messages for other companies' applications. Clients authenticate with `x-api-key`, operators with "
    "`x-operator-key`. Every error has the form of the schema `Error`: `code` is stable, `error` is a sentence for "
    "people. Unknown fields are ignored and null counts as absent."
)
_KEYS = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "OperatorKey": {"type": "apiKey", "in": "header", "name": "x-operator-key"},
}


def document_with(app: FastAPI) -> None:
    """Have the application serve the completed document."""
    app.description = _ABOUT
    made_by_framework = app.openapi
    app.openapi = lambda: _once(app, made_by_framework)  # type: ignore[method-assign]


def operations_of(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every route as `METHOD path`, with its part of the document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _once(app: FastAPI, made_by_framework: Callable[[], Document]) -> Document:
    if app.openapi_schema is None:
        _complete(made_by_framework())
    return made_by_framework()


def _complete(document: Document) -> None:
    schemas = document["components"]["schemas"]
    for left_over in ("HTTPValidationError", "ValidationError"):
        schemas.pop(left_over, None)
    schemas["Error"] = dict(ERROR)
    document["components"] |= {
        "securitySchemes": _KEYS,
        "headers": dict(RATE_HEADERS),
        "examples": error_examples(),
        "responses": shared_responses(),
    }
    answers = json.loads(_ANSWERS.read_text())
    for name, operation in operations_of(document):
        _complete_operation(name, operation, answers.get(name))


def _complete_operation(name: str, operation: dict[str, Any], answer: Any) -> None:
    key = "OperatorKey" if name.split(" ")[1].startswith("/v1/admin/") else "ApiKey"
    operation["security"] = [{key: []}]
    operation["parameters"] = [
        parameter
        for parameter in operation.get("parameters", [])
        if parameter["name"] not in ("x-api-key", "x-operator-key")
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        body["examples"] = {title: {"value": value} for title, value in REQUESTS[name].items()}
    responses = operation["responses"]
    responses.pop("422", None)
    success = next(response for status, response in responses.items() if status.startswith("2"))
    if key == "ApiKey":
        success["headers"] = {header: {"$ref": f"#/components/headers/{header}"} for header in RATE_HEADERS}
    if answer is not None:
        schema = schema_of(answer)
        if name in _OTHERWISE:
            schema = {"anyOf": [schema, schema_of(_OTHERWISE[name])]}
        success["content"]["application/json"] = {"schema": schema, "example": answer}
    responses |= error_responses(name, has_body=not name.startswith("GET "))
