"""While the broker is away, what was taken in goes on leaving; when it is back, all that happened becomes known."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Iterator

import asyncpg
import pytest
from tests.e2e.client import Client
from tests.reliability.outcome import send_many, settled, wrongs

from local_stack.backing import Backing
from local_stack.operator_api import Operator
from local_stack.system import System
from local_stack.waiting import wait_until

MESSAGES = 60
OUTAGE_SECONDS = 20.0
PACE = {"min_ms": 250, "max_ms": 350}
SLOW = dict.fromkeys(("otp", "utility", "marketing"), PACE) | {"max_in_flight": 4}
"""All messages together take about as long as the outage."""
SETTLE_SECONDS = 120.0


@pytest.fixture
def slow_client(system: System) -> Iterator[Client]:
    """A customer whose number takes its time."""
    with Operator(system) as operator:
        account = operator.open_account(instance=f"number-{secrets.token_hex(4)}", templates={}, pacing=SLOW)
    with Client(system, account) as opened:
        yield opened


async def taken_in(system: System, instance: str) -> int:
    connection = await asyncpg.connect(system.workspace.database_admin_url)
    try:
        query = "SELECT count(*) FROM dispatcher.jobs WHERE instance = $1"
        return int(await connection.fetchval(query, instance))
    finally:
        await connection.close()


def test_sending_goes_on_without_the_broker_and_facts_drain_afterwards(
    system: System, slow_client: Client, private_backing: Backing
) -> None:
    broker = private_backing.private_rabbitmq
    assert broker is not None
    sent = send_many(slow_client, range(MESSAGES))
    deadline = time.monotonic() + 30
    while asyncio.run(taken_in(system, slow_client.instance)) < MESSAGES:
        assert time.monotonic() < deadline, "not everything was taken in"
    left_before = len(slow_client.ledger())
    assert left_before < MESSAGES // 2, "hardly anything was left to be sent during the outage"
    broker.stop()
    stopped_at = time.monotonic()
    try:
        wait_until(
            lambda: len(slow_client.ledger()) == MESSAGES, what="every send without a broker", timeout_seconds=90
        )
        wait_until(
            lambda: time.monotonic() - stopped_at >= OUTAGE_SECONDS, what="end of the outage", timeout_seconds=90
        )
    finally:
        broker.start()
    assert settled(slow_client, sent, within_seconds=SETTLE_SECONDS) == Counter(READ=MESSAGES)
    assert wrongs(slow_client, sent) == []
