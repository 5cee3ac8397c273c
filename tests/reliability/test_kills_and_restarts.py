"""Nothing is lost and nothing is sent twice while the dispatcher is killed and the broker restarted."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.client import Client, ledger

from local_stack.backing import Backing
from local_stack.environment import Service
from local_stack.operator_api import Operator
from local_stack.system import System, open_system
from local_stack.waiting import wait_until
from local_stack.workspace import open_workspace

RUN_DIR = Path(__file__).parents[2] / ".run"
MESSAGES = 200
KILLS = 5
SETTLE_SECONDS = 150
QUICK_RECOVERY = {
    Service.DISPATCHER: {
        "LEASE_SECONDS": "4",
        "ABSENCE_BELIEVED_AFTER_SECONDS": "4",
        "RESOLVE_WITHIN_SECONDS": "20",
        "GATEWAY_READ_TIMEOUT_SECONDS": "2",
    },
}
PACING = {name: {"min_ms": 30, "max_ms": 60} for name in ("otp", "utility", "marketing")} | {"max_in_flight": 2}


@pytest.fixture
def system(private_backing: Backing) -> Iterator[System]:
    with (
        open_workspace(private_backing, "kills") as workspace,
        open_system(workspace, RUN_DIR, overrides=QUICK_RECOVERY) as running,
    ):
        yield running


@pytest.fixture
def client(system: System) -> Iterator[Client]:
    with Operator(system) as operator:
        account = operator.open_account(instance="florist", templates={}, pacing=PACING)
    with Client(system, account) as opened:
        yield opened


def kill_repeatedly(system: System) -> None:
    """SIGKILL in the midst of sending: each time after at least a few more sends have gone through."""
    dispatcher = system.services[Service.DISPATCHER]
    for _ in range(KILLS):
        enough = len(ledger(system)) + 10

        def sent_more(enough: int = enough) -> bool:
            return len(ledger(system)) >= enough

        wait_until(sent_more, what="sends before a kill", timeout_seconds=90)
        dispatcher.kill()
        dispatcher.start()


def send_many(client: Client, numbers: range) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda n: client.send(f"+5547991{n:06d}", f"message {n}"), numbers))


def test_200_messages_five_kills_one_broker_restart(system: System, client: Client, private_backing: Backing) -> None:
    broker = private_backing.private_rabbitmq
    assert broker is not None
    killer = threading.Thread(target=kill_repeatedly, args=(system,))
    killer.start()
    sent = send_many(client, range(MESSAGES // 2))
    broker.restart()
    sent += send_many(client, range(MESSAGES // 2, MESSAGES))
    killer.join(timeout=SETTLE_SECONDS)
    assert not killer.is_alive(), "the dispatcher did not go on between kills"

    def unread() -> Counter[str]:
        return Counter(client.read(message["id"])["status"] for message in sent)

    deadline = time.monotonic() + SETTLE_SECONDS
    while (statuses := unread()) != Counter(READ=MESSAGES) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert statuses == Counter(READ=MESSAGES)
    sends = Counter(row["text"] for row in ledger(system))
    assert sends == Counter({f"message {n}": 1 for n in range(MESSAGES)})


def test_the_api_accepts_while_only_the_broker_is_down(
    system: System, client: Client, private_backing: Backing
) -> None:
    broker = private_backing.private_rabbitmq
    assert broker is not None
    broker.stop()
    try:
        sent = [client.send("+5547991000001", f"no broker {n}") for n in range(5)]
        assert {client.read(message["id"])["status"] for message in sent} == {"QUEUED"}
    finally:
        broker.start()
    for message in sent:
        client.wait_for(message["id"], "READ")
