"""Lease, crash and reconciliation as a state machine over the real store: none lost, none sent twice unflagged."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.integration.dispatcher.conftest import schema_url
from tests.model.machine import Dispatchers
from tests.model.stage import Stage

__all__ = ["schema_url"]

RUNS = settings(
    max_examples=30,
    stateful_step_count=35,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
"""Shrinking would outlast the test's time limit; add `Phase.shrink` by hand to make a failing program short."""
SOMETIMES = ("crashed", "lease lost", "echoed", "echo lost", "Taken", "NotSent", "Unknown", "canceled", "flagged")


@pytest.fixture
def stage(schema_url: str) -> Iterator[Stage]:
    """Connections on a loop of our own: the machine runs it from one step to the next."""
    loop = asyncio.new_event_loop()
    opened = Stage(loop, schema_url)
    try:
        yield opened
    finally:
        for rig in opened.rigs:
            loop.run_until_complete(rig.database.stop())
        loop.close()


def test_no_message_is_lost_or_sent_twice_whatever_the_order_of_events(stage: Stage) -> None:
    machine: Any = type("Machine", (Dispatchers,), {"stage": stage})
    run_state_machine_as_test(machine, settings=RUNS)
    missing = [what for what in (*SOMETIMES, "reprocessed", "came to rest") if not stage.happened.get(what)]
    assert not missing, f"a model in which these never happened proves little: {missing}"
