"""Reaches customers' addresses without becoming their way into our network, and puts every outcome in our words."""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import httpx

from chassis.guarded import ForbiddenTargetError, Reason, Resolve, check_target
from chassis.http_client import send_bounded
from notifier.domain.delivery import Answered, Evidence, Unanswered
from notifier.domain.problems import Problem

RESPONSE_BYTES_MAX = 16 * 1_024
EXCERPT_BYTES_MAX = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedPoster:
    """Posts through a client of `chassis.guarded`: addresses checked and pinned, no redirects, no kept connections."""

    client: httpx.AsyncClient
    timeout_seconds: float

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes) -> Evidence:
        """One attempt within `timeout_seconds` all told; at most 16 kB of the answer are read."""
        try:
            request = self.client.build_request("POST", url, headers=dict(headers), content=body)
            reply = await send_bounded(
                self.client, request, timeout_seconds=self.timeout_seconds, body_bytes_max=RESPONSE_BYTES_MAX
            )
        except (ForbiddenTargetError, httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            return Unanswered(problem=problem_of(error))
        return Answered(
            status=reply.status, retry_after=reply.headers.get("retry-after"), excerpt=reply.body[:EXCERPT_BYTES_MAX]
        )


def problem_of(error: Exception) -> Problem:
    """The delivery log's word for what went wrong."""
    match error:
        case ForbiddenTargetError(reason=Reason.UNRESOLVED):
            return Problem.NAME_NOT_RESOLVED
        case ForbiddenTargetError() | httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return Problem.FORBIDDEN_TARGET
        case httpx.TimeoutException() | TimeoutError():
            return Problem.TIMEOUT
        case httpx.ConnectError():
            return Problem.TLS_FAILED if _is_tls(error) else Problem.CONNECT_FAILED
        case _:
            return Problem.CONNECTION_LOST


def target_check(*, allow_private: bool, resolve: Resolve | None = None) -> Callable[[str], Awaitable[str | None]]:
    """What is wrong with a URL that a customer wants to register, None if nothing is."""

    async def refusal_of(url: str) -> str | None:
        try:
            await check_target(url, allow_private=allow_private, resolve=resolve)
        except ForbiddenTargetError as error:
            return error.reason.value
        return None

    return refusal_of


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
