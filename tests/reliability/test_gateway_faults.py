"""A gateway that resets, hangs and lies costs time, but neither a message nor a second send."""

import asyncio
from collections import Counter

from tests.e2e.client import Client
from tests.reliability.outcome import attempts_ended, send_many, settled, wrongs

from local_stack.system import System

MESSAGES = 60
SETTLE_SECONDS = 120
ACTS = [
    {"act": "accept", "times": 3},
    {"act": "accept_then_reset"},
    {"act": "reset_before"},
    {"act": "error_500", "message": "Connection Closed"},
    {"act": "accept", "times": 3},
    {"act": "error_500_after_send", "message": "Timed Out"},
    {"act": "accept_then_hang", "seconds": 5},
    {"act": "rate_limited_429", "retry_after": "1"},
    {"act": "slow", "ms": 300},
]


def test_every_fault_of_the_gateway_ends_in_exactly_one_send(system: System, client: Client) -> None:
    client.script(send=ACTS, cycle=True, receipts={"order": "shuffled", "duplicates": 2})
    sent = send_many(client, range(MESSAGES))
    assert settled(client, sent, within_seconds=SETTLE_SECONDS) == Counter(READ=MESSAGES)
    assert wrongs(client, sent) == []
    ended = asyncio.run(attempts_ended(system, client))
    assert ended["UNKNOWN"] > 0
    assert ended["NOT_SENT"] > 0
