"""The application: all doors together, the gateway's 404, and the simulator's life around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolution_simulator import errors
from evolution_simulator.requests import ExpressJSON, read_body, simulator_of
from evolution_simulator.routes import chat, control, faults, instance, interactive, media, message, webhook
from evolution_simulator.settings import SimulatorSettings
from evolution_simulator.simulator import Simulator


async def welcome(request: Request) -> Response:
    settings = simulator_of(request).settings
    return ExpressJSON(
        {
            "status": 200,
            "message": "Welcome to the Evolution API, it is working!",
            "version": settings.version,
            "clientName": "evolution",
            "manager": f"{settings.public_url}/manager",
            "documentation": "https://doc.evolution-api.com",
        }
    )


async def evolution_error(request: Request, failure: Exception) -> Response:
    if not isinstance(failure, errors.EvolutionError):
        raise failure
    return ExpressJSON(failure.body, failure.status)


async def no_route(request: Request, failure: Exception) -> Response:
    """Express knows no 405: an unknown path and a wrong method are the same 404, after the body was parsed."""
    url = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    try:
        await read_body(request, simulator_of(request).settings.body_bytes_max)
    except errors.EvolutionError as unreadable:
        return await evolution_error(request, unreadable)
    return await evolution_error(request, errors.unknown_route(request.method, url))


def create_app(settings: SimulatorSettings) -> Starlette:
    simulator = Simulator(settings)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[dict[str, object]]:
        await simulator.start()
        try:
            yield {"gate": simulator.gate}
        finally:
            await simulator.stop()

    sends = [*message.ROUTES, *media.ROUTES, *interactive.ROUTES]
    routes = [Route("/", welcome), *sends, *chat.ROUTES, *instance.ROUTES, *webhook.ROUTES, *control.ROUTES]
    routes += faults.ROUTES
    handlers = {errors.EvolutionError: evolution_error, 404: no_route, 405: no_route}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=life)
    app.router.redirect_slashes = False
    app.state.simulator = simulator
    return app
