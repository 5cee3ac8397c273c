"""Tells an orchestrator whether to restart a process (`/live`) or to send it work (`/ready`), and why not."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from chassis.problems import Problem
from chassis.telemetry.metrics import render

CHECK_TIMEOUT_SECONDS: Final = 1.0
QUIET_PATHS: Final = frozenset({"/live", "/ready", "/metrics"})
"""Asked every few seconds by machines; not worth a span or a log line."""

Check = Callable[[], Awaitable[str | None]]


class Health:
    """Named checks of what the service needs; each answers None or the problem, without personal data."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}
        self._draining = False
        self._under_way: asyncio.Task[Mapping[str, str]] | None = None

    def check(self, name: str, check: Check) -> None:
        """Add a check; a name is taken once."""
        if name in self._checks:
            raise ValueError(f"there already is a check named {name}")
        self._checks[name] = check

    def drain(self) -> None:
        """From now on not ready: the process is about to stop."""
        self._draining = True

    async def failing(self) -> Mapping[str, str]:
        """Problem by name of check, empty when ready; callers at the same time share one round of checks."""
        if self._draining:
            return {"process": "draining"}
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._ask_all())
        return await asyncio.shield(self._under_way)

    def routes(self) -> Sequence[Route]:
        """`/live`, `/ready` and `/metrics`; plain routes, because every request of the service passes by them."""
        return (Route("/live", _live), Route("/ready", self._ready), Route("/metrics", _metrics))

    async def _ask_all(self) -> Mapping[str, str]:
        names = list(self._checks)
        answers = await asyncio.gather(*(_ask(self._checks[name]) for name in names))
        return {name: answer for name, answer in zip(names, answers, strict=True) if answer is not None}

    async def _ready(self, request: Request) -> Response:
        failing = await self.failing()
        if failing:
            raise Problem(
                503,
                "NOT_READY",
                f"Not ready: {', '.join(failing)}.",
                extras={"failing": failing},
                headers={"retry-after": "1"},
            )
        return JSONResponse({"status": "ready"})


async def _ask(check: Check) -> str | None:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
            return await check()
    except TimeoutError:
        return f"no answer within {CHECK_TIMEOUT_SECONDS:g} s"
    except Exception as error:  # a broken check is a failing check, and its message may hold an address
        return f"the check failed with {type(error).__name__}"


async def _live(request: Request) -> Response:
    return JSONResponse({"status": "live"})


async def _metrics(request: Request) -> Response:
    content, content_type = render(request.headers.get("accept", ""))
    return Response(content, headers={"content-type": content_type})
