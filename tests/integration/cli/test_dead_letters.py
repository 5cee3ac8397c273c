"""`pilot dead-letters` and `pilot reconcile`, against the shape of their routes."""

from typing import Any

import pytest

from .conftest import OPERATOR_KEY, Pilot
from .scripted import Platform

ADMIN = "/v1/admin/dead-letters"


def letter(number: int) -> dict[str, Any]:
    return {
        "id": f"letter-{number}",
        "state": "WAITING",
        "queue": "reconciler.facts",
        "reason": "rejected",
        "type": "message.dispatched",
        "messageId": None,
        "cause": "OLD_VERSION",
        "error": "Nobody reads version 9.",
        "count": 3,
        "firstDiedAt": "2030-01-01T12:00:00.000Z",
        "lastDiedAt": "2030-01-01T12:00:00.000Z",
    }


def settled(count: int, *, outcome: str = "replayed", more: bool = False, kept: Any = ()) -> dict[str, Any]:
    return {outcome: count, "kept": len(kept), "more": more, "ids": [], "keptLetters": list(kept)}


def test_a_list_goes_on_page_by_page_and_keeps_the_apis_shape(platform: Platform, pilot: Pilot) -> None:
    platform.answers[f"GET {ADMIN}"] = [
        (200, {"items": [letter(n) for n in range(100)], "nextCursor": "c1"}),
        (200, {"items": [letter(n) for n in range(100, 150)], "nextCursor": "c2"}),
    ]
    ended = pilot("dead-letters", "list", "--reason", "rejected", "--limit", "150", "--json")
    assert ended.exit_code == 0, ended.err
    body = ended.json()
    assert [one["id"] for one in body["items"]] == [f"letter-{n}" for n in range(150)]
    assert body["nextCursor"] == "c2"
    assert [asked.query for asked in platform.asked] == [
        {"reason": "rejected", "limit": "100"},
        {"reason": "rejected", "limit": "50", "cursor": "c1"},
    ]
    assert platform.asked[0].headers["x-operator-key"] == OPERATOR_KEY


def test_people_get_lines_and_are_told_how_to_go_on(platform: Platform, pilot: Pilot) -> None:
    platform.answers[f"GET {ADMIN}"] = (200, {"items": [letter(1)], "nextCursor": "c9"})
    ended = pilot("dead-letters", "list", "--limit", "1")
    titles, line = ended.out.splitlines()
    assert titles.split("\t")[:2] == ["id", "state"]
    assert line.split("\t")[0] == "letter-1"
    assert "--cursor c9" in ended.err


def test_one_is_shown_with_its_explanation(platform: Platform, pilot: Pilot) -> None:
    explanation = {"what": "A fact.", "why": "It died three times.", "replay": "A replay would die the same way."}
    platform.answers[f"GET {ADMIN}/a%2Fb"] = (200, {**letter(1), "explanation": explanation})
    shown = pilot("dead-letters", "show", "a/b").out
    assert all(sentence in shown for sentence in explanation.values())


def test_replaying_many_goes_in_portions_and_tells_what_failed(platform: Platform, pilot: Pilot) -> None:
    refused = {"error": "It is too late.", "code": "TOO_LATE", "requestId": "r-7"}
    platform.answers[f"POST {ADMIN}/replay"] = [(202, settled(50)), (409, refused), (202, settled(20))]
    ids = "\n".join(f"letter-{n}" for n in range(120))
    ended = pilot("dead-letters", "replay", "-", "--yes", "--json", stdin=ids)
    assert ended.exit_code == 4
    assert [one["replayed"] for one in ended.json()] == [50, 20]
    assert "[TOO_LATE, HTTP 409, request r-7]" in ended.err
    assert [len(asked.body["ids"]) for asked in platform.asked] == [50, 50, 20]


def test_replaying_one_and_all_of_a_kind(platform: Platform, pilot: Pilot) -> None:
    platform.answers[f"POST {ADMIN}/letter-1/replay"] = (200, {"id": "letter-1", "state": "REPLAYED"})
    platform.answers[f"POST {ADMIN}/replay"] = [(202, settled(1_000, more=True)), (202, settled(3))]
    assert "REPLAYED" in pilot("dead-letters", "replay", "letter-1", "--yes").out
    ended = pilot("dead-letters", "replay", "--queue", "q", "--type", "t", "--yes")
    assert (ended.exit_code, "1003" in ended.out) == (0, True)
    assert platform.asked[-1].body == {"queue": "q", "type": "t", "limit": 1_000}


def test_what_stays_is_named_and_not_asked_for_for_ever(platform: Platform, pilot: Pilot) -> None:
    late = {"id": "letter-9", "reason": "WINDOW_OVER", "sentence": "It is not sent late."}
    platform.answers[f"POST {ADMIN}/replay"] = (202, settled(0, more=True, kept=[late]))
    ended = pilot("dead-letters", "replay", "--queue", "q", "--yes")
    assert ended.exit_code == 4
    assert "letter-9: It is not sent late." in ended.err
    assert len(platform.asked) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay"],
        ["replay", "letter-1", "--queue", "q", "--yes"],
        ["discard", "--because", "x", "--yes"],
        ["discard", "letter-1", "--yes"],
    ],
)
def test_what_is_not_clear_is_not_done(platform: Platform, pilot: Pilot, arguments: list[str]) -> None:
    assert pilot("dead-letters", *arguments).exit_code == 2
    assert platform.asked == []


def test_discarding_says_why(platform: Platform, pilot: Pilot) -> None:
    platform.answers[f"POST {ADMIN}/letter-1/discard"] = (200, {"id": "letter-1", "state": "DISCARDED"})
    platform.answers[f"POST {ADMIN}/discard"] = (200, settled(2, outcome="discarded"))
    assert pilot("dead-letters", "discard", "letter-1", "--because", "a test", "--yes").exit_code == 0
    assert pilot("dead-letters", "discard", "a", "b", "--because", "a test", "--yes").exit_code == 0
    assert [asked.body for asked in platform.asked] == [{"reason": "a test"}, {"ids": ["a", "b"], "reason": "a test"}]


def test_the_books(platform: Platform, pilot: Pilot) -> None:
    account = {"accepted": 3, "final": 2, "open": 1}
    missing = {"messageId": "m-1", "reason": "UNKNOWN_TO_LEDGER", "sentence": "Nobody watches over it."}
    report = {
        "balanced": False,
        "api": account,
        "ledger": {**account, "accepted": 2},
        "accounts": [{"hour": "2030-01-01T12:00:00.000Z", "wrong": [missing]}],
        "watched": {"overdue": 0, "repeated": [{"messageId": "m-2", "requeues": 4}], "deadLettersWaiting": 1},
    }
    platform.answers["GET /v1/admin/reconciliation"] = (200, report)
    assert pilot("reconcile", "report", "--json", "--since", "2030-01-01T00:00:00Z").json() == report
    assert platform.asked[0].query == {"since": "2030-01-01T00:00:00Z"}
    ended = pilot("reconcile", "report", "--strict")
    assert ended.exit_code == 1
    assert "m-1\tUNKNOWN_TO_LEDGER" in ended.out
    assert "m-2" in ended.out
    assert "do not balance" in ended.err
    platform.answers["GET /v1/admin/reconciliation"] = (200, {**report, "balanced": True, "accounts": []})
    assert pilot("reconcile", "report", "--strict").exit_code == 0


def test_a_platform_without_the_route_says_so(platform: Platform, pilot: Pilot) -> None:
    ended = pilot("reconcile", "report")
    assert (ended.exit_code, ended.out) == (1, "")
    assert "does not offer this" in ended.err
    assert "request r-404" in ended.err
