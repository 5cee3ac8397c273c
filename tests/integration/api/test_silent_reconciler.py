"""Where nobody answers for the reconciler, operators are told so, and when to try again."""

from typing import Any

import pytest

from .running import OPERATOR_KEY, RunningApi, code_of


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "dead-letters", None),
        ("POST", "dead-letters/replay", {"queue": "messages--padaria"}),
        ("GET", "reconciliation", None),
    ],
)
async def test_a_silent_reconciler_is_said_so(api: RunningApi, method: str, path: str, body: Any) -> None:
    headers = {"x-operator-key": OPERATOR_KEY}
    answer = await api.client.request(method, f"/v1/admin/{path}", json=body, headers=headers)
    assert code_of(answer) == (503, "OWNER_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
