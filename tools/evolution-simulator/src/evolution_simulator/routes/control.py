"""The simulator's own doors under /simulator: scripts, ledger, states and counters, for tests on the same machine."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evolution_simulator.instances import State
from evolution_simulator.requests import ExpressJSON, simulator_of
from evolution_simulator.scripts import Script

_PAGE_ROWS_MAX = 100_000


class WantedState(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    state: Literal["open", "connecting", "close"]
    silent: bool = False


async def put_script(request: Request) -> Response:
    """Put a script in force; one with the same match is replaced and its count starts again."""
    try:
        script = Script.model_validate_json(await request.body())
    except ValidationError as failure:
        return _invalid(failure)
    simulator_of(request).scripts.put(script)
    return JSONResponse(script.model_dump(mode="json"))


async def delete_scripts(request: Request) -> Response:
    simulator_of(request).scripts.clear()
    return Response(status_code=204)


async def read_ledger(request: Request) -> Response:
    """Accepted sends after `since_seq`, optionally of one instance, oldest first."""
    try:
        since = int(request.query_params.get("since_seq", "0"))
    except ValueError:
        return JSONResponse({"error": "since_seq is a whole number"}, 422)
    instance = request.query_params.get("instance")
    rows = [
        entry.as_row()
        for entry in simulator_of(request).entries
        if entry.seq > since and instance in (None, entry.instance)
    ]
    return ExpressJSON(rows[:_PAGE_ROWS_MAX])


async def pending_webhooks(request: Request) -> Response:
    """What is still to come: deliveries on their way or waiting to be retried, and receipts not due yet."""
    simulator = simulator_of(request)
    deliveries, receipts = simulator.webhooks.pending, simulator.scheduled_receipts
    return JSONResponse({"pending": deliveries + receipts, "deliveries": deliveries, "receipts": receipts})


async def counters(request: Request) -> Response:
    """How often each act was performed (so that a test can prove its faults happened) and what became of webhooks."""
    simulator = simulator_of(request)
    return JSONResponse({"acts": dict(simulator.acts), "webhooks": dict(simulator.webhooks.counters)})


async def set_state(request: Request) -> Response:
    simulator = simulator_of(request)
    try:
        wanted = WantedState.model_validate_json(await request.body())
    except ValidationError as failure:
        return _invalid(failure)
    instance = simulator.registry.get(request.path_params["instance"])
    if instance is None:
        return JSONResponse({"error": "no such instance"}, 404)
    changed = simulator.change_state(instance, State(wanted.state), silent=wanted.silent)
    return JSONResponse({"instance": {"instanceName": changed.name, "state": changed.state}})


def _invalid(failure: ValidationError) -> Response:
    problems = [{"at": list(map(str, error["loc"])), "problem": error["msg"]} for error in failure.errors()]
    return JSONResponse({"error": "invalid", "problems": problems}, 422)


ROUTES = [
    Route("/simulator/script", put_script, methods=["PUT"]),
    Route("/simulator/script", delete_scripts, methods=["DELETE"]),
    Route("/simulator/ledger", read_ledger, methods=["GET"]),
    Route("/simulator/webhooks/pending", pending_webhooks, methods=["GET"]),
    Route("/simulator/counters", counters, methods=["GET"]),
    Route("/simulator/instances/{instance}/state", set_state, methods=["POST"]),
]
