"""Nothing is lost and nothing is sent twice while the dispatcher is killed and the broker restarted."""

import asyncio
import threading
from collections import Counter

from tests.e2e.client import Client
from tests.reliability.outcome import attempts_ended, send_many, settled, wrongs

from local_stack.backing import Backing
from local_stack.environment import Service
from local_stack.system import System
from local_stack.waiting import wait_until

MESSAGES = 200
KILLS = 5
SETTLE_SECONDS = 150


def kill_repeatedly(system: System, client: Client) -> None:
    """SIGKILL in the midst of sending: each time after at least a few more sends have gone through."""
    dispatcher = system.services[Service.DISPATCHER]
    for _ in range(KILLS):
        enough = len(client.ledger()) + 10

        def sent_more(enough: int = enough) -> bool:
            return len(client.ledger()) >= enough

        wait_until(sent_more, what="sends before a kill", timeout_seconds=90)
        dispatcher.kill()
        dispatcher.start()


def test_200_messages_five_kills_one_broker_restart(system: System, client: Client, private_backing: Backing) -> None:
    broker = private_backing.private_rabbitmq
    assert broker is not None
    client.script(send=[{"act": "slow", "ms": 150}])
    killer = threading.Thread(target=kill_repeatedly, args=(system, client))
    killer.start()
    sent = send_many(client, range(MESSAGES // 2))
    broker.restart()
    sent += send_many(client, range(MESSAGES // 2, MESSAGES))
    killer.join(timeout=SETTLE_SECONDS)
    assert not killer.is_alive(), "the dispatcher did not go on between kills"
    assert settled(client, sent, within_seconds=SETTLE_SECONDS) == Counter(READ=MESSAGES)
    assert wrongs(client, sent) == []
    assert len(client.ledger()) == MESSAGES
    assert asyncio.run(attempts_ended(system, client))["UNKNOWN"] > 0, "no kill ever hit a call in flight"


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
