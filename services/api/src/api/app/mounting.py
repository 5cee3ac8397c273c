"""Puts routers where the published contract has them, and turns refusals into the one error shape."""

from fastapi import APIRouter, FastAPI, Request, Response

from api.refusals import RefusedError
from chassis.problems import Problem, render


def mount(app: FastAPI, *, public: list[APIRouter], operator: APIRouter) -> None:
    """Public routes under /v1 and, undocumented, /api/v1; the operator's under /v1/admin."""
    for prefix, documented in (("/v1", True), ("/api/v1", False)):
        for router in public:
            app.include_router(router, prefix=prefix, include_in_schema=documented)
    app.include_router(operator, prefix="/v1")
    app.add_exception_handler(RefusedError, _refuse)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    status = error.refusal.value[0]
    details = {"details": [{"field": error.field, "message": error.sentence}]} if error.field else {}
    headers = {"retry-after": "1"} if status == 503 else {}
    return render(Problem(status, error.refusal.name, error.sentence, extras=details, headers=headers), request.scope)
