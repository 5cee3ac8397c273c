"""How the command behaves whatever the platform does: keys kept, questions asked, every end explained."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from .conftest import OPERATOR_KEY, Pilot
from .scripted import Platform

SOMETHING = str(uuid4())
HARMFUL = [
    ["cancel", SOMETHING],
    ["reprocess", SOMETHING],
    ["numbers", "pause", SOMETHING],
    ["numbers", "default", SOMETHING],
    ["dead-letters", "replay", "x"],
    ["dead-letters", "discard", "x", "--because", "y"],
    ["webhooks", "replay", SOMETHING, "x"],
    ["webhooks", "enable", SOMETHING],
    ["opt-ins", "revoke", SOMETHING],
    ["tenants", "change", SOMETHING, "--no-plan"],
    ["projects", "change", SOMETHING, "--no-production"],
    ["keys", "revoke", SOMETHING],
    ["templates", "reject", SOMETHING, "--because", "y"],
    ["templates", "release", SOMETHING, "--stop"],
    ["plans", "delete", SOMETHING],
    ["packages", "delete", SOMETHING],
    ["people", "remove", SOMETHING],
    ["operators", "revoke", SOMETHING],
]


@pytest.mark.parametrize("arguments", HARMFUL, ids=lambda arguments: " ".join(arguments[:2]))
def test_where_nobody_can_answer_nothing_is_harmed(platform: Platform, pilot: Pilot, arguments: list[str]) -> None:
    ended = pilot(*arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert "--yes" in ended.err
    assert platform.asked == []


def test_logging_in_tries_the_keys_and_never_shows_them(
    platform: Platform, pilot: Pilot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PILOT_URL", "PILOT_OPERATOR_KEY"):
        monkeypatch.delenv(name)
    platform.answers["GET /v1/admin/tenants"] = (200, {"items": [], "nextCursor": None})
    platform.answers["GET /v1/api-keys"] = (200, [])
    ended = pilot("--profile", "night", "login", "--url", platform.url, "--api-key", stdin="op_secret\nps_secret\n")
    assert ended.exit_code == 0, ended.err
    assert [asked.headers.get("x-operator-key") for asked in platform.asked] == ["op_secret", None]
    stored = tmp_path / "pilot" / "profiles.json"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert json.loads(stored.read_text())["current"] == "night"
    listed = pilot("profile", "list", "--json")
    assert listed.json() == [
        {"name": "night", "current": True, "url": platform.url, "operatorKey": True, "apiKey": True}
    ]
    assert "secret" not in ended.out + ended.err + listed.out
    assert pilot("tenants", "list", "--json").json() == {"items": [], "nextCursor": None}
    assert platform.asked[-1].headers["x-operator-key"] == "op_secret"


def test_a_wrong_key_is_not_stored(platform: Platform, pilot: Pilot, tmp_path: Path) -> None:
    denied = {"error": "The operator key is unknown.", "code": "OPERATOR_KEY_INVALID", "requestId": "r-1"}
    platform.answers["GET /v1/admin/tenants"] = (401, denied)
    ended = pilot("login", "--url", platform.url, stdin="op_wrong\n")
    assert ended.exit_code == 5
    assert "op_wrong" not in ended.err
    assert not (tmp_path / "pilot").exists()


@pytest.mark.parametrize(
    ("answer", "exit_code", "said"),
    [
        ((302, b""), 1, "HTTP 302"),
        ((200, b"<html>"), 1, "not JSON"),
        ((502, b"<html>bad gateway"), 6, "HTTP 502"),
        ((200, {"strange": 1}), 1, "not a list"),
        ((500, {"error": "x\x1b[2J", "code": "INTERNAL", "requestId": "r"}), 1, "x [2J"),
    ],
)
def test_strange_answers_end_in_a_sentence(
    platform: Platform, pilot: Pilot, answer: tuple[int, object], exit_code: int, said: str
) -> None:
    platform.answers["GET /v1/admin/tenants"] = answer
    ended = pilot("tenants", "list")
    assert (ended.exit_code, ended.out) == (exit_code, "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert OPERATOR_KEY not in ended.err


def test_nobody_at_the_address_is_unavailable(pilot: Pilot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOT_URL", "http://127.0.0.1:1")
    ended = pilot("tenants", "list")
    assert ended.exit_code == 6
    assert "cannot be reached" in ended.err


@pytest.mark.parametrize("url", ["nonsense", "http://", "http://\x00", "http://[::1"])
def test_an_address_that_is_none_is_explained(pilot: Pilot, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("PILOT_URL", "unset")
    for ended in (pilot("login", "--url", url, stdin="op_x\n"), pilot("tenants", "list")):
        assert ended.exit_code == 2, ended.err
        assert "must look like" in ended.err


def test_a_send_of_unknown_outcome_says_how_to_repeat_it(
    platform: Platform, pilot: Pilot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILOT_API_KEY", "ps_x")
    platform.answers["POST /v1/messages/send"] = (503, {"error": "Later.", "code": "SERVICE_UNAVAILABLE"})
    ended = pilot("send", "--to", "+5547991000000", "--text", "-", stdin="from a file")
    assert ended.exit_code == 6
    assert platform.asked[0].body == {"destinationNumber": "+5547991000000", "text": "from a file"}
    assert f"--idempotency-key {platform.asked[0].headers['idempotency-key']}" in ended.err


def test_watching_survives_a_platform_that_is_away_for_a_moment(platform: Platform, pilot: Pilot) -> None:
    message = {"id": "m", "status": "QUEUED", "version": 1, "createdAt": "2030-01-01T12:00:00.000Z"}
    read = {**message, "status": "READ", "version": 2, "readAt": "2030-01-01T12:00:01.000Z"}
    platform.answers["GET /v1/admin/messages/m"] = [(200, message), (503, {"code": "X"}), (200, read)]
    platform.answers["GET /v1/admin/messages/m/timeline"] = (200, {"waitingFor": None})
    ended = pilot("watch", "m", "--every", "0.1", "--json")
    assert ended.exit_code == 0, ended.err
    assert [json.loads(line)["status"] for line in ended.out.splitlines()] == ["QUEUED", "READ"]


@pytest.mark.parametrize(("status", "until", "exit_code"), [("FAILED", "READ", 1), ("DELIVERED", "SENT", 0)])
def test_watching_ends_with_what_became_of_it(
    platform: Platform, pilot: Pilot, status: str, until: str, exit_code: int
) -> None:
    platform.answers["GET /v1/admin/messages/m"] = (200, {"id": "m", "status": status, "version": 3})
    assert pilot("watch", "m", "--until", until).exit_code == exit_code


def test_watching_has_an_end(platform: Platform, pilot: Pilot) -> None:
    platform.answers["GET /v1/admin/messages/m"] = (200, {"id": "m", "status": "DELIVERED", "version": 3})
    ended = pilot("watch", "m", "--for", "0.2", "--every", "0.1")
    assert ended.exit_code == 1
    assert "Not there within 0.2 s: m" in ended.err


def test_canceling_many_tells_each_fate(platform: Platform, pilot: Pilot) -> None:
    ids = [str(uuid4()) for _ in range(3)]
    late = {"error": "Too late.", "code": "MESSAGE_NOT_CANCELABLE", "requestId": "r"}
    for one in ids[:2]:
        platform.answers[f"POST /v1/admin/messages/{one}/cancel"] = (200, {"id": one, "status": "CANCELED"})
    platform.answers[f"POST /v1/admin/messages/{ids[2]}/cancel"] = (409, late)
    ended = pilot("cancel", *ids, "--yes", "--json")
    assert ended.exit_code == 4
    assert ended.json() == {
        "cancelled": ids[:2],
        "failed": [{"id": ids[2], "reason": "MESSAGE_NOT_CANCELABLE"}],
    }


def test_a_number_is_found_by_its_instance_on_any_page(platform: Platform, pilot: Pilot) -> None:
    pages = [
        {"items": [{"id": "n-1", "instance": "a"}], "nextCursor": "c"},
        {"items": [{"id": "n-2", "instance": "b"}]},
    ]
    platform.answers["GET /v1/admin/numbers"] = [(200, pages[0]), (200, pages[1])]
    platform.answers["POST /v1/admin/numbers/n-2/resume"] = (200, {"id": "n-2", "instance": "b", "paused": False})
    assert pilot("numbers", "resume", "b", "--json").json()["paused"] is False
    assert pilot("numbers", "resume", "nobody").exit_code == 3
