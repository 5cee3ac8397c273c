"""What every route does before its own work: read JSON as Express does, then the guards in their real order."""

import asyncio
import functools
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evolution_simulator import connection, errors, node_json
from evolution_simulator.instances import Instance
from evolution_simulator.simulator import Simulator


class ExpressJSON(JSONResponse):
    """JSON with Express's content type and Node's keep-alive hint."""

    media_type = "application/json; charset=utf-8"

    def __init__(self, content: Any, status_code: int = 200, headers: dict[str, str] | None = None) -> None:
        super().__init__(content, status_code, {"Keep-Alive": "timeout=5", **(headers or {})})

    def render(self, content: Any) -> bytes:
        return node_json.encode(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that passed the guards of an instance route."""

    request: Request
    simulator: Simulator
    instance: Instance
    body: dict[str, Any]


Handler = Callable[[Call], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def for_instance(handler: Handler) -> Endpoint:
    """Body first (it is parsed before routing), then 404 for an unknown instance, then 401, then the handler."""

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        simulator = simulator_of(request)
        body = await read_body(request, simulator.settings.body_bytes_max)
        name = request.path_params["instance"]
        instance = simulator.registry.get(name)
        if instance is None:
            raise errors.unknown_instance(name)
        if not key_matches(request, simulator.settings.api_key) and not key_matches(request, instance.token):
            raise errors.unauthorized()
        addressed = simulator.registry.get(request.query_params.get("instanceName", name))
        if addressed is None:
            raise errors.internal_error("Cannot read properties of undefined (reading 'textMessage')")
        try:
            return await handler(Call(request=request, simulator=simulator, instance=addressed, body=body))
        except asyncio.CancelledError:
            # Only stopping cancels a request: its caller meets what a dying process shows.
            connection.cut(request)
            return Response()

    return endpoint


def simulator_of(request: Request) -> Simulator:
    simulator: Simulator = request.app.state.simulator
    return simulator


def key_matches(request: Request, key: str) -> bool:
    return hmac.compare_digest(request.headers.get("apikey", "").encode(), key.encode())


async def read_body(request: Request, bytes_max: int) -> dict[str, Any]:
    """The JSON object of a request; no body or another content type is an empty object, as with Express."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > bytes_max:
            raise errors.body_too_large()
    if not raw or not request.headers.get("content-type", "").startswith("application/json"):
        return {}
    try:
        body = node_json.decode(bytes(raw))
    except node_json.MalformedJsonError as failure:
        raise errors.malformed_json(str(failure)) from None
    return body if isinstance(body, dict) else {}
