"""Every bench still runs and measures something; how much is for `make bench` to say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bench import accept, claim, dispatch, faults, ingest, life, notify, relay, wakeup
from tests.bench.report import Line, rate, show

from local_stack.backing import Backing
from local_stack.system import System, open_system
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"


@pytest.fixture(scope="module")
def system(backing: Backing) -> Iterator[System]:
    with (
        open_workspace(backing, "bench") as opened,
        open_system(opened, RUN_DIR, gateway_arguments=life.QUICK_RECEIPTS) as running,
    ):
        yield running


def figures(lines: list[Line]) -> list[float]:
    """What was measured; remarks have no value."""
    return [line.value for line in lines if line.value is not None]


def test_relays_move_rows(system: System) -> None:
    measured = relay.measure(system.workspace, relay.Size(rows=60, rounds=1))
    assert len(figures(measured)) >= 2
    assert min(figures(measured)) > 0


def test_relays_wake_up(system: System) -> None:
    measured = wakeup.measure(system.workspace, wakeup.Size(rows=2))
    assert len(figures(measured)) >= 2


def test_a_row_is_kept_when_nobody_listens_and_free_after_a_kill(system: System) -> None:
    unheard, killed = faults.measure(system.workspace)[:2]
    assert unheard.figure.startswith("kept")
    assert killed.figure.startswith("delivered")


def test_claims_are_timed(backing: Backing) -> None:
    waiting = claim.Waiting(jobs=200, lanes=10, tenants=5)
    with open_workspace(backing, "bench") as workspace:
        measured = claim.measure(workspace, claim.Size(dimensions=((waiting, waiting),), passes=2))
    assert len(figures(measured)) == 3
    assert min(figures(measured)) > 0


def test_a_dispatcher_is_timed_beside_a_bare_loop(backing: Backing) -> None:
    with open_workspace(backing, "bench") as workspace:
        measured = dispatch.measure(workspace, dispatch.Size(messages=20, rounds=1, storm_jobs=200))
    assert min(figures(measured)) > 0
    assert measured[-1].figure == "none twice"


def test_the_edge_is_timed_beside_a_bare_route(backing: Backing) -> None:
    with open_workspace(backing, "bench") as workspace:
        measured = ingest.keep_up(workspace, 20.0, ingest.Size(posts=40, rounds=1, paced_seconds=0.5))
    assert len(figures(measured)) == 8
    assert min(figures(measured)) > 0


def test_a_notifier_is_timed_beside_a_bare_loop_and_beside_broken_endpoints(backing: Backing) -> None:
    with open_workspace(backing, "bench") as workspace:
        measured = notify.measure(workspace, notify.Size(deliveries=20, rounds=1, backlog=50, timed=5))
    assert len(figures(measured)) == 8
    assert min(figures(measured)) > 0


def test_whole_lives_and_acceptance_are_measured(system: System) -> None:
    accounts = life.open_accounts(system)
    lives = life.follow(system, accounts, life.Size(messages=8, spaced=2))
    accepted = accept.compare(
        system.workspace, accept.target_of(system, accounts[0]), accept.Size(requests=32, rounds=1)
    )
    assert min(figures(lives[:1] + accepted)) > 0


def test_the_table_names_a_missed_bar(capsys: pytest.CaptureFixture[str]) -> None:
    show([rate("x", "slow", 10, reference=20, bar=0.6), rate("x", "fast", 30, reference=20, bar=1)])
    _, slow, fast = capsys.readouterr().out.splitlines()
    assert slow.split()[2:] == ["10/s", "0.50", ">=", "0.6", "MISSED"]
    assert fast.split()[2:] == ["30/s", "1.50", ">=", "1", "met"]
