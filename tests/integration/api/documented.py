"""Compares every answer the tests see with the OpenAPI document."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx

SNAPSHOT = Path(__file__).parents[3] / "services" / "api" / "openapi.json"
NOT_SERVED = "NOT_IMPLEMENTED"
"""Some addresses of what is out of scope look like a message's or a number's."""


async def must_be_documented(response: httpx.Response) -> None:
    """A response hook: raises `AssertionError` for a status or code that the route's documentation does not name."""
    request = response.request
    path = request.url.path.removeprefix("/api")
    operation = _operation(request.method.lower(), path)
    if operation is None or response.status_code == 500:
        return
    await response.aread()
    if response.is_error and response.json()["code"] == NOT_SERVED:
        return
    assert str(response.status_code) in operation["responses"], (request.method, path, response.text)
    if response.is_error:
        codes = _codes(operation["responses"][str(response.status_code)])
        assert response.json()["code"] in codes, (request.method, path, response.text)


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(SNAPSHOT.read_text())
    return document


def _operation(method: str, path: str) -> dict[str, Any] | None:
    templates = sorted(_document()["paths"], key=lambda template: (template.count("{"), -len(template)))
    for template in templates:
        inner = ".+" if template.startswith("/v1/messages/") else "[^/]+"
        if re.fullmatch(re.sub(r"{\w+}", inner, template), path) and method in _document()["paths"][template]:
            found: dict[str, Any] = _document()["paths"][template][method]
            return found
    return None


def _codes(response: dict[str, Any]) -> list[str]:
    if "$ref" in response:
        response = _document()["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    codes: list[str] = response["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
    return codes
