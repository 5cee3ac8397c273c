"""The control doors for what goes wrong beyond single sends: numbers, connections, the listener, the whole process."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evolution_simulator.faults import Fault
from evolution_simulator.listener import Listener
from evolution_simulator.requests import simulator_of

SECONDS_MAX = 3_600


class _Wanted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WantedFault(_Wanted):
    fault: Fault | None
    seconds: float | None = Field(default=None, gt=0, le=SECONDS_MAX)


class WantedRestriction(_Wanted):
    restricted: bool


class WantedCuts(_Wanted):
    cut_next: int = Field(ge=0, le=100_000)


class WantedDoor(_Wanted):
    closed_seconds: float = Field(gt=0, le=SECONDS_MAX)


class WantedRestart(_Wanted):
    down_seconds: float = Field(default=0.0, ge=0, le=SECONDS_MAX)
    loading_seconds: float = Field(default=0.0, ge=0, le=SECONDS_MAX)
    forget_messages: bool = False


Wanted = TypeVar("Wanted", bound=_Wanted)


def _door(
    kind: type[Wanted], handler: Callable[[Request, Wanted], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            wanted = kind.model_validate_json(await request.body())
        except ValidationError as failure:
            problems = [{"at": list(map(str, error["loc"])), "problem": error["msg"]} for error in failure.errors()]
            return JSONResponse({"error": "invalid", "problems": problems}, 422)
        name = request.path_params.get("instance")
        if name is not None and simulator_of(request).registry.get(name) is None:
            return JSONResponse({"error": "no such instance"}, 404)
        return handler(request, wanted)

    return endpoint


def _put_fault(request: Request, wanted: WantedFault) -> Response:
    simulator_of(request).faults.put(request.path_params["instance"], wanted.fault, seconds=wanted.seconds)
    return JSONResponse(wanted.model_dump(mode="json"))


def _restrict(request: Request, wanted: WantedRestriction) -> Response:
    simulator_of(request).faults.restrict(request.path_params["instance"], restricted=wanted.restricted)
    return JSONResponse(wanted.model_dump(mode="json"))


def _cut_next(request: Request, wanted: WantedCuts) -> Response:
    """The caller's own connection is open already and is not one of them."""
    simulator_of(request).gate.to_cut = wanted.cut_next
    return JSONResponse(wanted.model_dump(mode="json"))


def _close_door(request: Request, wanted: WantedDoor) -> Response:
    """Closed when the answer arrives."""
    _listener(request).close_for(wanted.closed_seconds)
    return JSONResponse(wanted.model_dump(mode="json"), headers={"connection": "close"})


def _restart(request: Request, wanted: WantedRestart) -> Response:
    """Whatever else is under way is cut when the answer arrives."""
    listener, simulator = _listener(request), simulator_of(request)
    if wanted.down_seconds > 0:
        listener.close_for(wanted.down_seconds)
    listener.drop_connections(spared=request.state.transport)
    simulator.restart(forget_messages=wanted.forget_messages, loading_seconds=wanted.loading_seconds)
    return JSONResponse(wanted.model_dump(mode="json"), headers={"connection": "close"})


async def clear_faults(request: Request) -> Response:
    """Numbers and connections behave again; a closed door opens in its own time."""
    simulator = simulator_of(request)
    simulator.faults.clear()
    simulator.gate.to_cut = 0
    return Response(status_code=204)


def _listener(request: Request) -> Listener:
    listener: Listener = request.app.state.listener
    return listener


ROUTES = [
    Route("/simulator/faults", clear_faults, methods=["DELETE"]),
    Route("/simulator/instances/{instance}/fault", _door(WantedFault, _put_fault), methods=["POST"]),
    Route("/simulator/instances/{instance}/restriction", _door(WantedRestriction, _restrict), methods=["POST"]),
    Route("/simulator/connections", _door(WantedCuts, _cut_next), methods=["POST"]),
    Route("/simulator/listener", _door(WantedDoor, _close_door), methods=["POST"]),
    Route("/simulator/restart", _door(WantedRestart, _restart), methods=["POST"]),
]
