"""Puts routers where the published contract has them, and turns refusals into the one error shape."""

from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.types import Scope

from api.refusals import RefusedError
from chassis.problems import Problem, render

DOCUMENTED: Final = "/v1"
PREFIXES: Final = (DOCUMENTED, "/api/v1")


def mount(app: FastAPI, *, public: list[APIRouter], operator: APIRouter) -> None:
    """Public routes under /v1 and, undocumented, /api/v1; the operator's under /v1/admin."""
    for prefix in PREFIXES:
        for router in public:
            app.include_router(router, prefix=prefix, include_in_schema=prefix == DOCUMENTED)
    app.include_router(operator, prefix=DOCUMENTED)
    app.add_exception_handler(RefusedError, _refuse)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal_answer(error, request.scope)


def refusal_answer(error: RefusedError, scope: Scope) -> Response:
    """The HTTP answer."""
    return render(problem_of(error), scope)


def problem_of(error: RefusedError) -> Problem:
    """A refusal in the one error shape."""
    return Problem(error.status, error.refusal.name, error.sentence, extras=error.members(), headers=_headers_of(error))


def _headers_of(error: RefusedError) -> dict[str, str]:
    if error.quota is None:
        return {"retry-after": "1"} if error.status == 503 else {}
    quota = error.quota
    return {
        "retry-after": str(quota.reset_seconds),
        "ratelimit-policy": f'"{quota.name}";q={quota.limit};w={quota.window_seconds}',
        "ratelimit": f'"{quota.name}";r=0;t={quota.reset_seconds}',
    }
