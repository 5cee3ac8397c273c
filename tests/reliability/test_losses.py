"""What is lost between acceptance and the gateway comes back from the second memory, and nothing leaves twice."""

import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.client import Client
from tests.reliability.drilling import DRILLED, Drill
from tests.reliability.dumps import FileDump, TableDump, can_dump
from tests.reliability.poison import KINDS, NewKey, poison_lane

from contracts.topology import lane_queue
from local_stack.backing import Backing
from local_stack.environment import Service
from local_stack.operator_api import Operator
from local_stack.system import System, open_system
from local_stack.waiting import wait_until
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
PACING = {name: {"min_ms": 20, "max_ms": 40} for name in ("otp", "utility", "marketing")} | {"max_in_flight": 4}
SCHEMAS = tuple(service.value for service in Service)


@pytest.fixture(scope="module")
def drilled(backing: Backing) -> Iterator[System]:
    with (
        open_workspace(backing, "drills") as workspace,
        open_system(workspace, RUN_DIR, overrides=DRILLED) as running,
    ):
        yield running


@contextmanager
def number_of(system: System, pii_mode: str) -> Iterator[Drill]:
    with Operator(system) as operator:
        account = operator.open_account(instance=f"drill-{secrets.token_hex(4)}", templates={}, pacing=PACING)
    headers, url = {"x-operator-key": system.credentials.operator_key}, f"{system.api_url}/v1/admin"
    with (
        Client(system, account) as client,
        httpx.Client(base_url=url, headers=headers, timeout=20, trust_env=False) as http,
    ):
        changed = client.http.patch(f"/numbers/{account.number_id}", json={"piiMode": pii_mode})
        assert changed.status_code == 200, changed.text
        yield Drill(system=system, account=account, client=client, operator=http)


@pytest.fixture(scope="module")
def numbers(drilled: System) -> Iterator[list[Drill]]:
    """One that keeps contents, and one of a customer of whom the api keeps none: both go through every drill."""
    with ExitStack() as stack:
        yield [stack.enter_context(number_of(drilled, mode)) for mode in ("STORE_INDEFINITE", "RELAY_ONLY")]


@pytest.fixture
def drills(numbers: list[Drill]) -> Iterator[list[Drill]]:
    """Everything that left was asked for, and left once."""
    for drill in numbers:
        drill.client.script()
    yield numbers
    for drill in numbers:
        twice = [text for text, sends in drill.sent().items() if sends > 1]
        assert twice == []


def pause(drills: Sequence[Drill]) -> None:
    for drill in drills:
        drill.pause()


def resume(drills: Sequence[Drill]) -> None:
    for drill in drills:
        drill.resume()


def send(drills: Sequence[Drill], *texts: str) -> list[list[str]]:
    return [drill.send(*texts) for drill in drills]


def wait(drills: Sequence[Drill], sent: Sequence[list[str]]) -> list[list[str]]:
    """The same, once they wait in their lanes."""
    for drill, ids in zip(drills, sent, strict=True):
        wait_until(partial(drill.has_jobs, ids, state="READY"), what="jobs", timeout_seconds=30)
    return list(sent)


def end(drills: Sequence[Drill], sent: Sequence[list[str]], status: str = "READ") -> list[list[str]]:
    """The same, once all of them ended so."""
    for drill, ids in zip(drills, sent, strict=True):
        drill.ends(ids, status)
    return list(sent)


def left(drills: Sequence[Drill], *texts: str) -> None:
    """Each of these left once from each number."""
    for drill in drills:
        assert {text: drill.sent()[text] for text in texts} == dict.fromkeys(texts, 1)


def test_jobs_that_vanish_are_rebuilt_from_the_ledger(drills: list[Drill]) -> None:
    """Those that wait are sent once; those that were sent are not sent again."""
    gone = end(drills, send(drills, "sent before"))
    pause(drills)
    waiting = wait(drills, send(drills, "waits 1", "waits 2", "waits 3"))
    for drill, ids in zip(drills, [*map(list.__add__, gone, waiting)], strict=True):
        drill.rows("DELETE FROM dispatcher.jobs WHERE message_id::text = ANY($1)", ids)
    resume(drills)
    end(drills, waiting)
    left(drills, "sent before", "waits 1", "waits 2", "waits 3")
    for drill, ids in zip(drills, gone, strict=True):
        assert drill.rows("SELECT 1 FROM dispatcher.jobs WHERE message_id::text = ANY($1)", ids) == []


def test_a_purged_lane_queue_loses_nothing(drills: list[Drill]) -> None:
    dispatcher = drills[0].system.services[Service.DISPATCHER]
    dispatcher.stop()
    try:
        lost = send(drills, "purged 1", "purged 2")
        for drill in drills:
            wait_until(partial(drill.has_waiting, 2), what="published", timeout_seconds=30)
            assert drill.purge_lane() == 2
    finally:
        dispatcher.start()
    end(drills, lost)
    left(drills, "purged 1", "purged 2")


def test_lost_receipts_are_asked_for_and_nothing_is_sent_for_it(drills: list[Drill]) -> None:
    """A known WhatsApp id is proof of dispatch: the gateway is asked for more, whatever it takes."""
    for drill in drills:
        drill.client.script(receipts="lost")
    silent = end(drills, send(drills, "nobody tells"))
    left(drills, "nobody tells")
    for drill, ids in zip(drills, silent, strict=True):
        [row] = drill.rows("SELECT verifies FROM reconciler.ledger WHERE message_id::text = ANY($1)", ids)
        assert row["verifies"] > 0


def test_the_dispatcher_comes_back_from_an_older_dump(drills: list[Drill]) -> None:
    """In the dump: one that is sent later, one that is canceled later. After it: one that is sent, one that waits."""
    system = drills[0].system
    pause(drills)
    then_sent = wait(drills, send(drills, "in the dump, then sent"))
    then_canceled = wait(drills, send(drills, "in the dump, then canceled"))
    dump = TableDump.take(system.workspace.database_admin_url, ["dispatcher"])
    for drill, ids in zip(drills, then_canceled, strict=True):
        assert drill.cancel(ids) == ids
    resume(drills)
    end(drills, then_sent)
    end(drills, send(drills, "after the dump, sent"))
    pause(drills)
    waiting = wait(drills, send(drills, "after the dump, waits"))
    system.services[Service.DISPATCHER].stop()
    dump.restore()
    system.services[Service.DISPATCHER].start()
    resume(drills)
    end(drills, send(drills, "after the restore"))
    end(drills, waiting)
    end(drills, then_canceled, "CANCELED")
    left(drills, "in the dump, then sent", "after the dump, sent", "after the dump, waits", "after the restore")
    assert all(drill.sent()["in the dump, then canceled"] == 0 for drill in drills)


def test_a_lost_message_is_named(drills: list[Drill]) -> None:
    """One that neither the dispatcher nor the ledger ever heard of: nobody would watch over it."""
    drill = drills[0]
    pause([drill])
    [lost, other] = wait([drill], [drill.send("lost altogether", "not lost")])[0]
    drill.rows("DELETE FROM dispatcher.jobs WHERE message_id::text = $1", lost)
    drill.rows("DELETE FROM reconciler.ledger WHERE message_id::text = $1", lost)
    drill.rows("UPDATE api.messages SET accepted_at = now() - interval '9 minutes' WHERE id::text = $1", lost)
    report = drill.saw("reconciliation")
    [account] = [one for one in report["accounts"] if one["tenantId"] == drill.account.tenant_id]
    assert [(one["messageId"], one["reason"]) for one in account["wrong"]] == [(lost, "UNKNOWN_TO_LEDGER")]
    assert account["api"]["accepted"] == account["ledger"]["accepted"] + 1
    assert report["balanced"] is account["balanced"] is False
    wrong = {"wrong": "UNKNOWN_TO_LEDGER"}
    wait_until(lambda: drill.metric("pilot_books_wrong_messages", **wrong) == 1, what="a metric", timeout_seconds=30)
    drill.rows("DELETE FROM api.messages WHERE id::text = $1", lost)
    wait_until(lambda: drill.metric("pilot_books_wrong_messages", **wrong) == 0, what="balance", timeout_seconds=30)
    resume([drill])
    drill.ends([other], "READ")


@pytest.mark.skipif(not can_dump(), reason="the server's own tools are not installed")
def test_restore_drill(drills: list[Drill], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Dump everything, go on, lose everything, restore, reconcile; the report is printed."""
    system, (goes_on, stays) = drills[0].system, drills
    pause(drills)
    sent = wait(drills, send(drills, "in the whole dump"))
    dump = FileDump.take(system.workspace.database_admin_url, SCHEMAS, tmp_path / "whole.dump")
    resume([goes_on])
    end([goes_on], [sent[0]])
    for service in system.services.values():
        service.stop()
    dump.lose()
    dump.restore()
    for service in system.services.values():
        service.start(wait=False)
    for service in system.services.values():
        service.wait_ready()
    resume(drills)
    end(drills, send(drills, "after the whole restore"))
    end(drills, sent)
    left(drills, "in the whole dump", "after the whole restore")
    wait_until(lambda: balanced(stays.saw("reconciliation")), what="balanced books", timeout_seconds=30)
    report = stays.saw("reconciliation")
    with capsys.disabled():
        told = {name: report[name] for name in ("api", "ledger", "balanced", "complete", "watched")}
        sys.stdout.write(f"\nrestore drill: {json.dumps(told)}\n")


def balanced(report: dict[str, Any]) -> bool:
    return bool(report["balanced"] and report["complete"] and report["api"] == report["ledger"])


def test_poison_of_six_kinds_is_explained_and_its_messages_are_read(drills: list[Drill]) -> None:
    """What a replay cures is replayed once the cause is gone; what it cannot cure comes back from the ledger."""
    drill, key = drills[0], NewKey.make()
    dispatcher, reconciler = (drill.system.services[name] for name in (Service.DISPATCHER, Service.RECONCILER))
    dispatcher.stop()
    poisoned = poison_lane(drill, key)
    never, now = (
        f"UPDATE reconciler.ledger SET look_at = now() {later} WHERE message_id::text = ANY($1)"
        for later in ("+ interval '1 hour'", "")
    )
    ids = list(poisoned.values())
    wait_until(
        lambda: len(drill.rows("SELECT 1 FROM reconciler.ledger WHERE message_id::text = ANY($1)", ids)) == 6,
        what="ledger",
        timeout_seconds=30,
    )
    drill.rows(never, ids)
    dispatcher.start()
    queue = lane_queue(drill.account.instance).name

    def letters(**more: str) -> dict[str, dict[str, Any]]:
        return {one["cause"]: one for one in drill.saw("dead-letters", queue=queue, **more)["items"]}

    wait_until(lambda: len(letters()) == len(KINDS), what="dead letters", timeout_seconds=30)
    dead = letters(state="WAITING")
    assert set(dead) == set(KINDS)
    for cause, letter in dead.items():
        explained = drill.saw(f"dead-letters/{letter['id']}")
        assert explained["error"] in explained["explanation"]["why"], cause
        assert explained["replayable"] is (cause == "NO_ID"), explained
    assert {one["cause"] for one in drill.saw("dead-letters", messageId=poisoned["NO_ID"])["items"]} == {"NO_ID"}
    replayed = drill.did("POST", "dead-letters/replay", queue=queue)
    assert (replayed["ids"], replayed["kept"]) == ([dead["NO_ID"]["id"]], 5)
    drill.ends([poisoned["NO_ID"]], "READ")
    for service in (dispatcher, reconciler):
        service.restart_with(SEAL_KEYS=f"{service.env['SEAL_KEYS']},{key.entry}")
    drill.did("POST", f"dead-letters/{dead['UNKNOWN_KEY']['id']}/replay")
    drill.ends([poisoned["UNKNOWN_KEY"]], "READ")
    rest = [dead[cause]["id"] for cause in KINDS if cause not in ("NO_ID", "UNKNOWN_KEY")]
    assert drill.did("POST", "dead-letters/discard", ids=rest, reason="From a drill.")["discarded"] == len(rest)
    drill.rows(now, ids)
    drill.ends(ids, "READ")
    left([drill], *(f"poison {kind}" for kind in KINDS))
    assert letters(state="WAITING") == {}
