"""What can go wrong, as exit codes that scripts may rely on and sentences that people can act on."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from pilot_cli.text import plain

_ROLE_CODES = frozenset({"OPERATOR_ROLE_NOT_ALLOWED", "TENANT_SCOPE_NOT_ALLOWED", "NUMBER_SCOPE_NOT_ALLOWED"})
NO_SUCH_ROUTE = "ROUTE_NOT_FOUND"
_BAD_INPUT = frozenset({400, 413, 422})
_LATER = frozenset({408, 429, 502, 503, 504})


class Exit(IntEnum):
    """The documented exit codes."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    REFUSED = 4
    UNAUTHORISED = 5
    UNAVAILABLE = 6


class Failure(Exception):
    """Ends the command: a sentence for stderr and the exit code."""

    def __init__(self, exit_code: Exit, sentence: str) -> None:
        super().__init__(sentence)
        self.exit_code, self.sentence = exit_code, sentence


class ApiFailure(Failure):
    """The API said no, or nothing that can be read."""

    def __init__(self, status: int, body: Mapping[str, Any], *, request_id: str | None = None) -> None:
        self.status = status
        self.code = str(body.get("code") or f"HTTP_{status}")
        self.request_id = str(body.get("requestId") or request_id or "unknown")
        sentence = str(body.get("error") or f"The API answered HTTP {status}.")
        if self.code == NO_SUCH_ROUTE:
            sentence = "The platform does not offer this; it may be older than this command."
        first = f"{plain(sentence)} [{plain(self.code)}, HTTP {status}, request {plain(self.request_id)}]"
        super().__init__(exit_of(status, self.code), "\n".join([first, *_details(body.get("details"))]))


def exit_of(status: int, code: str) -> Exit:
    """What an HTTP status means to a script."""
    if status == 401 or code in _ROLE_CODES:
        return Exit.UNAUTHORISED
    if status == 404:
        return Exit.FAILED if code == NO_SUCH_ROUTE else Exit.NOT_FOUND
    if status in _BAD_INPUT:
        return Exit.USAGE
    if status in _LATER:
        return Exit.UNAVAILABLE
    return Exit.REFUSED if 400 <= status < 500 else Exit.FAILED


def worst(exits: Sequence[Exit]) -> Exit:
    """Of several results at once: the one all bad ones share, FAILED where they differ, OK if there are none."""
    bad = {one for one in exits if one is not Exit.OK}
    if len(bad) == 1:
        return next(iter(bad))
    return Exit.FAILED if bad else Exit.OK


def _details(details: Any) -> list[str]:
    if not isinstance(details, list):
        return []
    return [plain(f"  {one.get('field')}: {one.get('message')}") for one in details[:20] if isinstance(one, dict)]
