"""The one shape of every error answer, and the translation of exceptions into it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.outages import is_outage
from chassis.telemetry.logs import get_logger
from chassis.telemetry.tracing import current_traceparent
from chassis.validation import explain_validation

logger = get_logger(__name__)

REQUEST_ID_KEY: Final = "request_id"
"""Where an ASGI scope keeps the id of its request."""

_ROUTING: Final[Mapping[int, tuple[str, str]]] = {
    404: ("ROUTE_NOT_FOUND", "There is nothing at this address."),
    405: ("METHOD_NOT_ALLOWED", "This address does not take this method; see the Allow header."),
}


class Problem(Exception):
    """An answer with an error: `code` is stable and for machines, `error` is a sentence for people, never input."""

    def __init__(
        self,
        status: int,
        code: str,
        error: str,
        *,
        extras: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.error = error
        self.extras = dict(extras or {})
        self.headers = dict(headers or {})


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of that name, which is in small letters; a quarter of the price of starlette's Headers."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def unavailable(*, retry_after_seconds: int = 1) -> Problem:
    """A backing service is down; nothing was stored, so the caller may repeat the request."""
    return Problem(
        503,
        "SERVICE_UNAVAILABLE",
        "The service cannot do this right now. Nothing was changed; try again shortly.",
        headers={"retry-after": str(retry_after_seconds)},
    )


def install(app: FastAPI) -> None:
    """Make every error answer of `app` a problem: its own, the framework's, and what nobody foresaw."""
    app.add_exception_handler(HTTPException, _answer_routing)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(Problem, _answer_problem)
    app.add_middleware(LastResort)


def render(problem: Problem, scope: Scope) -> Response:
    """The HTTP answer; the names beyond `error` and `code` are those of RFC 9457."""
    request_id = scope.get(REQUEST_ID_KEY)
    body = {
        **problem.extras,
        "error": problem.error,
        "code": problem.code,
        "type": "about:blank",
        "title": _phrase(problem.status),
        "status": problem.status,
        "detail": problem.error,
        "instance": f"urn:request:{request_id or 'unknown'}",
        "requestId": request_id,
    }
    traceparent = current_traceparent()
    if traceparent is not None:
        body["traceId"] = traceparent.split("-")[1]
    content = orjson.dumps(body, default=str)
    return Response(content, problem.status, headers=problem.headers, media_type="application/json")


class LastResort:
    """ASGI middleware: whatever exception comes this far is answered (503 for outages, else 500) and logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except ClientDisconnect:
            logger.debug("client_disconnected")
        except Exception as error:
            problem = _problem_of(error)
            if started:
                raise
            await render(problem, scope)(scope, receive, send)


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if is_outage(error):
        logger.warning("request_met_outage", error=error)
        return unavailable()
    logger.exception("request_failed", error=error)
    return Problem(500, "INTERNAL_ERROR", "Something went wrong on our side. It has been recorded under the requestId.")


async def _answer_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return render(error, request.scope)


async def _answer_routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    code, sentence = _ROUTING.get(status, (_code(status), f"{_phrase(status)}."))
    return render(Problem(status, code, sentence, headers=error.headers), request.scope)


async def _answer_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    code, sentence, extras = explain_validation(error)
    return render(Problem(400, code, sentence, extras=extras), request.scope)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"Status {status}"


def _code(status: int) -> str:
    return _phrase(status).upper().replace(" ", "_").replace("-", "_").replace("'", "")
