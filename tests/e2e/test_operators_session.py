"""An operator's session with `pilot`, as a process, against the whole system: a stuck message is found and fixed."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import aio_pika
import httpx
import pytest

from local_stack.blocking import run_blocking
from local_stack.operator_api import Account, Operator
from local_stack.settings import inherited_environment
from local_stack.system import System
from local_stack.waiting import wait_until
from pilot_cli.__main__ import main

PILOT = str(Path(sys.executable).parent / "pilot")
COMMAND_SECONDS = 90
TEXT = "your bouquet is on its way"
TO = "+5547991000071"


class Session:
    """Commands in the order they were typed, with what they printed; the tests' closing note.

    `quick` runs them in this process: starting one costs half a second.
    """

    def __init__(self, environment: dict[str, str], *, quick: bool) -> None:
        self._environment, self._run, self.transcript = environment, _in_process if quick else _as_process, ""

    def run(self, *arguments: str, exits: int = 0, stdin: str = "") -> str:
        """The output of one command that must end with that exit code."""
        code, out, err = self._run(list(arguments), self._environment, stdin)
        self.transcript += f"$ pilot {' '.join(arguments)}\n{out}{err}"
        assert code == exits, self.transcript
        assert "Traceback" not in err
        return out if exits == 0 else err

    def json(self, *arguments: str) -> Any:
        """One document."""
        return json.loads(self.run(*arguments, "--json"))


def _as_process(arguments: list[str], environment: dict[str, str], stdin: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [PILOT, *arguments],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def _in_process(arguments: list[str], environment: dict[str, str], stdin: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", ["pilot", *arguments]),
        patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main()
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def florist(system: System) -> Account:
    """A customer of its own: its number is paused here."""
    with Operator(system) as operator:
        return operator.open_account(instance="night-florist", templates={})


@pytest.fixture(params=[False], ids=["processes"])
def session(request: pytest.FixtureRequest, system: System, florist: Account, tmp_path: Path) -> Iterator[Session]:
    """Logged in as operator and with the customer's key; keys come by stdin and show nowhere."""
    environment = inherited_environment() | {"XDG_CONFIG_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    opened = Session(environment, quick=request.param)
    keys = f"{system.credentials.operator_key}\n{florist.api_key}\n"
    opened.run("login", "--url", system.api_url, "--api-key", stdin=keys)
    yield opened
    if record := os.environ.get("PILOT_SESSION_RECORD"):
        with Path(record).open("a", encoding="utf-8") as file:
            file.write(f"{opened.transcript}\n")
    assert system.credentials.operator_key not in opened.transcript
    assert florist.api_key not in opened.transcript


def in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


quickly = pytest.mark.parametrize("session", [True], ids=["quickly"], indirect=True)


def test_a_stuck_message_is_found_explained_fixed_and_seen_read(session: Session, florist: Account) -> None:
    paused = session.json("numbers", "pause", florist.instance, "--yes")
    assert (paused["id"], paused["paused"]) == (florist.number_id, True)

    def is_paused() -> bool:
        """The dispatcher has heard of it: what is sent from now on waits."""
        [lane] = session.json("numbers", "lanes", florist.instance)["items"]
        return bool(lane["lane"]["paused"])

    wait_until(is_paused, what="the lane to be paused", timeout_seconds=30, pause_seconds=0.5)
    sent = session.json("send", "--to", TO, "--text", TEXT)
    stuck = session.json("stuck", "--number", florist.instance, "--overdue", "0")
    assert [message["id"] for message in stuck["items"]] == [sent["id"]]
    session.run("stuck", "--number", florist.instance, "--overdue", "0")

    def is_held() -> bool:
        waiting = session.json("explain", sent["id"])["waitingFor"]
        return bool(waiting and waiting["code"] == "NUMBER_RESUMED")

    wait_until(is_held, what="the dispatcher to hold it", timeout_seconds=30, pause_seconds=0.5)
    assert "resumed" in session.run("explain", sent["id"])
    assert TEXT not in session.run("get", sent["id"])
    assert session.run("numbers", "lanes", florist.instance).splitlines()[1].split("\t")[:4] == [
        florist.instance,
        "OPEN",
        "yes",
        "1",
    ]
    session.run("numbers", "resume", florist.instance)
    watched = session.run("watch", sent["id"], "--for", "60", "--every", "0.2")
    assert watched.splitlines()[-1].split("  ")[1:3] == [sent["id"], "READ"]
    assert session.json("get", sent["id"])["status"] == "READ"
    assert "number.pause" in session.run("audit", "list", "--target", florist.number_id, "--limit", "2")


@quickly
def test_a_waiting_message_is_canceled_and_exit_codes_say_what_happened(session: Session, florist: Account) -> None:
    session.run("numbers", "pause", florist.instance, exits=2)
    sent = session.json("send", "--to", TO, "--text", "not this one", "--at", in_an_hour())["id"]
    session.run("cancel", sent, exits=2)
    assert session.json("numbers", "probe", florist.instance)["state"] == "OPEN"
    [lane] = session.json("numbers", "lanes", florist.instance)["items"]
    assert (lane["id"], lane["lane"]["known"], lane["lane"]["paused"]) == (florist.number_id, True, False)
    session.run("watch", sent, "--for", "0.5", exits=1)
    assert session.json("cancel", sent, "--yes") == {"cancelled": [sent], "failed": []}
    session.run("cancel", sent, "--yes", exits=4)
    session.run("watch", sent, exits=1)
    session.run("reprocess", sent, "--yes", exits=4)
    session.run("get", "nobody-knows-it", exits=3)
    session.run("numbers", "lanes", "nobody-knows-it", exits=3)
    session.run("send", "--to", "12", "--text", "x", exits=2)
    session.run("--profile", "nowhere", "tenants", "list", exits=2)
    assert session.run("explain", sent).count("\n") >= 3


async def plant(broker_url: str) -> None:
    """Something that nobody of ours said."""
    connection = await aio_pika.connect(broker_url)
    async with connection:
        exchange = await (await connection.channel()).get_exchange("pilot.facts")
        foreign = aio_pika.Message(b"{}", type="message.gossiped.v1", message_id=str(uuid4()))
        await exchange.publish(foreign, routing_key="receipt.recorded")


@quickly
def test_dead_letters_are_found_explained_and_settled_and_the_books_balance(session: Session, system: System) -> None:
    run_blocking(plant(system.workspace.broker_url))
    waiting = ["dead-letters", "list", "--state", "WAITING", "--type", "message.gossiped.v1"]
    wait_until(lambda: len(session.json(*waiting)["items"]) == 2, what="both letters", timeout_seconds=60)
    first, second = session.json(*waiting)["items"]
    assert {first["queue"], second["queue"]} == {"api.messages", "dispatcher.receipts"}
    assert "UNKNOWN_TYPE" in session.run("dead-letters", "show", first["id"])
    assert first["id"] in session.run("dead-letters", "replay", "--type", first["type"], "--yes", exits=4)
    session.run("dead-letters", "discard", first["id"], second["id"], "--because", "no sender of ours", "--yes")
    session.run("dead-letters", "discard", first["id"], "--because", "twice", "--yes", exits=4)
    assert session.json(*waiting)["items"] == []

    def balances() -> bool:
        return bool(session.json("reconcile", "report")["balanced"])

    wait_until(balances, what="books that balance", timeout_seconds=60, pause_seconds=1)
    assert "accepted" in session.run("reconcile", "report", "--strict")


@quickly
def test_a_customers_webhook_is_seen_and_its_past_replayed(session: Session, florist: Account) -> None:
    door = {"x-api-key": florist.api_key}
    hook = {"url": "http://127.0.0.1:9/closed", "name": "shop", "events": ["*"]}
    url = session.json("profile", "list")[0]["url"]
    made = httpx.post(f"{url}/v1/webhooks", json=hook, headers=door, trust_env=False).raise_for_status().json()
    httpx.post(f"{url}/v1/webhooks/{made['id']}/test", headers=door, trust_env=False).raise_for_status()

    def attempted() -> list[Any]:
        listed = session.json("webhooks", "deliveries", made["id"])["items"]
        return [one for one in listed if one["problem"]]

    wait_until(lambda: bool(attempted()), what="an attempt that failed", timeout_seconds=60)
    [delivery] = attempted()
    assert delivery["id"] in session.run("webhooks", "deliveries", made["id"])
    [shown] = session.json("webhooks", "list", "--tenant", florist.tenant_id)["items"]
    assert (shown["id"], shown["origin"]) == (made["id"], "http://127.0.0.1:9")
    assert "shop" in session.run("webhooks", "get", made["id"])
    period = ["--from", (datetime.now(UTC) - timedelta(hours=1)).isoformat(), "--to", in_an_hour()]
    assert "1 will be delivered again" in session.run("webhooks", "replay", made["id"], *period, "--yes")
    session.run("webhooks", "replay", made["id"], str(uuid4()), "--yes", exits=3)


@quickly
def test_an_operator_works_in_its_role_only(session: Session, florist: Account) -> None:
    made = session.json("tenants", "create", "--name", "Bakery")
    project = session.json("projects", "create", "--tenant", made["id"], "--name", "bread")
    issued = session.json("keys", "issue", "--project", project["id"], "--name", "till")
    assert issued["key"].startswith("ps_test_")
    session.transcript = session.transcript.replace(issued["key"], "ps_test_…")
    session.run("keys", "revoke", issued["id"], "--yes")
    plan = session.json("plans", "create", "--name", f"plan {made['id']}", "--live-monthly", "10")
    changed = session.json("plans", "change", plan["id"], "--live-monthly", "unlimited", "--no-media")
    assert (changed["liveMonthly"], changed["mediaAllowed"]) == (None, False)
    session.run("tenants", "change", made["id"], "--plan", plan["id"])
    session.run("plans", "delete", plan["id"], "--yes", exits=4)
    session.run("tenants", "change", made["id"], "--no-plan", "--yes")
    session.run("plans", "delete", plan["id"], "--yes")
    agreed = session.json("opt-ins", "grant", "--project", project["id"], "--phone", TO)
    session.run("opt-ins", "revoke", agreed["id"], "--yes")
    body = ["--name", "fresh", "--category", "UTILITY", "--body", "Hi {{name}}"]
    assert session.json("templates", "create", "--project", project["id"], *body)["variables"] == ["name"]
    viewer = session.json("operators", "create", "--name", "Nora", "--role", "viewer")
    session.transcript = session.transcript.replace(viewer["key"], "op_…")
    session.run("--profile", "nora", "login", "--url", session.json("profile", "list")[0]["url"], stdin=viewer["key"])
    session.run("tenants", "get", made["id"])
    session.run("tenants", "change", made["id"], "--name", "Mine", exits=5)
    session.run("numbers", "pause", florist.instance, "--yes", exits=5)
