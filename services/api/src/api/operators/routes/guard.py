"""Who may come in below /v1/admin: every route asks for an operator, and every change for the right to make it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from api.operators.domain import Action, Operator
from api.operators.schemas import OperatorKey
from api.operators.usecases.authenticate import AuthenticateOperator
from api.operators.usecases.record_change import Change, Door
from chassis.problems import REQUEST_ID_KEY

_READING = {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True, slots=True, eq=False)
class May:
    """A dependency: the right to make one change of this kind."""

    action: Action
    guard: "Guard"

    async def __call__(self, request: Request, x_operator_key: OperatorKey = None) -> Change:
        """Raises `RefusedError` for a wrong key or a role that is not enough."""
        operator = await self.guard.operators.operator(x_operator_key)
        return self.guard.door.open(self.action, operator, request_id=str(request.scope[REQUEST_ID_KEY]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Makes the dependencies of routes, and a router that lets no unguarded change through."""

    operators: AuthenticateOperator
    door: Door

    def may(self, action: Action) -> Callable[..., Awaitable[Change]]:
        """A dependency of routes that make such a change."""
        return May(action, self)

    async def someone(self, x_operator_key: OperatorKey = None) -> Operator:
        """A dependency of every route: whoever has a valid key may read."""
        return await self.operators.operator(x_operator_key)

    def router(self, *resources: APIRouter) -> APIRouter:
        """Everything below /admin; raises `RuntimeError` if a route changes something without asking for the right."""
        router = APIRouter(prefix="/admin", dependencies=[Depends(self.someone)])
        for resource in resources:
            unguarded = [path for path, actions in actions_of(resource.routes) if len(actions) != 1]
            if unguarded:
                raise RuntimeError(f"routes that change something need one action each: {', '.join(unguarded)}")
            router.include_router(resource)
        return router


def actions_of(routes: Sequence[BaseRoute]) -> Sequence[tuple[str, Sequence[Action]]]:
    """Each route that changes something, as `METHOD path`, with the actions it asks for."""
    return [
        (f"{method} {route.path}", _asked(route.dependant))
        for route in routes
        if isinstance(route, APIRoute)
        for method in sorted((route.methods or set()) - _READING)
    ]


def _asked(dependant: Dependant) -> Sequence[Action]:
    return [part.call.action for part in dependant.dependencies if isinstance(part.call, May)]
