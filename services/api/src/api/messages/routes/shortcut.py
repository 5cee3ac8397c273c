"""A short way for the sends that are in good form, which nearly all are; the others take the documented route."""

from collections.abc import Callable
from typing import Final

import orjson
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.access.usecases import Authenticate
from api.messages.schemas.sending import SendBody, accepted_body
from api.messages.usecases.accept_message import AcceptMessage
from api.refusals import RefusedError
from chassis.body_guard import JSON_BODY_KEY
from chassis.problems import header

PATH: Final = "/messages/send"
_HEADERS: Final = ((b"content-type", b"application/json"),)
_REPLAYED: Final = ((b"idempotent-replayed", b"true"),)


class SendShortcut:
    """ASGI middleware: a valid body is accepted as `send_message` accepts it, without the framework in between.

    It is behind the same limits, and says the same. What it does not understand it passes on untouched, so that every
    other answer is the documented route's. Measured: it takes half of what a send costs this process away.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        prefixes: tuple[str, ...],
        authenticate: Authenticate,
        accept: AcceptMessage,
        refuse: Callable[[RefusedError, Scope], Response],
    ) -> None:
        self._app, self._authenticate, self._accept, self._refuse = app, authenticate, accept, refuse
        self._routes = {f"{prefix}{PATH}": _Route(f"{prefix}{PATH}") for prefix in prefixes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        body = _valid_body(scope) if route is not None else None
        if body is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        try:
            await self._carry_out(body, scope, send)
        except RefusedError as error:
            await self._refuse(error, scope)(scope, receive, send)

    async def _carry_out(self, body: SendBody, scope: Scope, send: Send) -> None:
        caller = await self._authenticate.caller(_text(scope, b"x-api-key"))
        receipt = await self._accept.accept(body.request(), caller, key=_text(scope, b"idempotency-key"))
        content = orjson.dumps(accepted_body(receipt))
        length = (b"content-length", str(len(content)).encode())
        headers = [length, *_HEADERS, *(_REPLAYED if receipt.replayed else ())]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": content})


class _Route:
    """Names the route to metrics and spans."""

    def __init__(self, path: str) -> None:
        self.path = path


def _valid_body(scope: Scope) -> SendBody | None:
    try:
        return SendBody.model_validate_json(scope.get(JSON_BODY_KEY, b""))
    except ValidationError:
        return None


def _text(scope: Scope, name: bytes) -> str | None:
    value = header(scope, name)
    return value.decode("latin-1") if value is not None else None
