"""Lets only bodies through that are bounded, complete in time and, where JSON is meant, really JSON."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import orjson
from fastapi import FastAPI
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.characters import Unfit, find_half_pair, find_unfit
from chassis.problems import Problem, header
from chassis.validation import MALFORMED_JSON, VALIDATION_FAILED, explain_broken_json

BODY_BYTES_MAX: Final = 1024 * 1024
BODY_TIMEOUT_SECONDS: Final = 20.0
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ESCAPED_NUL: Final = b"\\u0000"
_CHECK: Final = "ask_first"
JSON_BODY_KEY: Final = "json_body"
"""Where an ASGI scope keeps a body that is known to be JSON; `receive` gives it as well."""


class BodyGuard:
    """ASGI middleware. Paths under `raw_paths` are left alone: their route reads, bounds and judges the body itself."""

    def __init__(self, app: ASGIApp, *, bytes_max: int = BODY_BYTES_MAX, raw_paths: Sequence[str] = ()) -> None:
        self._app = app
        self._bytes_max = bytes_max
        self._raw_paths = tuple(raw_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (self._raw_paths and scope["path"].startswith(self._raw_paths)):
            await self._app(scope, receive, send)
            return
        try:
            _require_address(scope)
            if _has_no_body(scope):
                body = None
            else:
                body = await read_body(scope, receive, bytes_max=self._bytes_max)
                if body and _is_json(scope):
                    require_json(body)
                    scope[JSON_BODY_KEY] = body
        except Problem as problem:
            if problem.status == 400:
                await _who_asks(scope)
            raise
        await self._app(scope, receive if body is None else _replay(body, receive), send)


def ask_first(app: FastAPI, check: Callable[[Scope], Awaitable[None]]) -> None:
    """Have `check` asked before a body is refused for its form: whom it raises `Problem` for learns that instead."""
    setattr(app.state, _CHECK, check)


async def _who_asks(scope: Scope) -> None:
    app = scope.get("app")
    check = getattr(app.state, _CHECK, None) if app is not None else None
    if check is not None:
        await check(scope)


def _require_address(scope: Scope) -> None:
    if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
        raise Problem(400, VALIDATION_FAILED, "The address holds the character U+0000, which is never accepted.")


async def read_body(
    scope: Scope, receive: Receive, *, bytes_max: int, timeout_seconds: float = BODY_TIMEOUT_SECONDS
) -> bytes:
    """The whole body; raises `Problem` 413 beyond `bytes_max` without keeping more, 408 when it does not arrive."""
    declared = header(scope, b"content-length") or b"0"
    if declared.isdigit() and int(declared) > bytes_max:
        raise _too_large(bytes_max)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > bytes_max:
                    raise _too_large(bytes_max)
                chunks.append(chunk)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise Problem(
            408, "REQUEST_TIMEOUT", "The body did not arrive in time.", headers={"connection": "close"}
        ) from None


def require_json(body: bytes) -> None:
    """Raise `Problem` 400 unless the body is strict JSON in UTF-8: no lone surrogate, no NaN, no U+0000."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _unfit(find_half_pair(body)) or _malformed(body, error.pos) from None
    if _ESCAPED_NUL in body and (problem := _unfit(find_unfit(document))) is not None:
        raise problem


def _unfit(found: Unfit | None) -> Problem | None:
    if found is None:
        return None
    sentence = f"{found.field}: {found.message}" if found.field else f"The body: {found.message}."
    return Problem(400, VALIDATION_FAILED, sentence, extras={"details": [found._asdict()]})


def _malformed(body: bytes, position: int) -> Problem:
    try:
        code, sentence, extras = explain_broken_json(body.decode(), position)
    except UnicodeDecodeError as error:
        text = body[: error.start].decode()
        code, _, extras = explain_broken_json(text, len(text))
        sentence = f"The body is not valid UTF-8: line {extras['line']}, column {extras['column']}."
    return Problem(400, code or MALFORMED_JSON, sentence, extras=extras)


def _has_no_body(scope: Scope) -> bool:
    if scope["method"] not in _BODILESS:
        return False
    names = {name for name, _ in scope["headers"]}
    return b"content-length" not in names and b"transfer-encoding" not in names


def _is_json(scope: Scope) -> bool:
    given = header(scope, b"content-type")
    if given is None or given == b"application/json":
        return True
    kind = given.partition(b";")[0].strip().lower()
    return kind == b"application/json" or kind.endswith(b"+json")


def _too_large(bytes_max: int) -> Problem:
    return Problem(
        413,
        "PAYLOAD_TOO_LARGE",
        f"The body is larger than {bytes_max} bytes.",
        extras={"maxBytes": bytes_max},
        headers={"connection": "close"},
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
