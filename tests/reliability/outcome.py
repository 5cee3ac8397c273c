"""Sending many messages, waiting until all have settled, and what the attempts came to."""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
from tests.e2e.client import Client
from tests.reliability.ledger import Promise, Violation, balance, sends_of

from contracts.errors import ErrorCode
from contracts.status import Status
from local_stack.system import System

PAUSE_SECONDS = 0.5


def send_many(client: Client, numbers: range) -> list[dict[str, Any]]:
    """One message for each number, four at a time; all accepted."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda n: client.send(f"+5547991{n:06d}", f"message {n}"), numbers))


def settled(client: Client, sent: Sequence[dict[str, Any]], *, within_seconds: float) -> Counter[str]:
    """Statuses of all messages once everything is READ or FAILED, or when time is up."""
    deadline = time.monotonic() + within_seconds
    known = {message["id"]: "QUEUED" for message in sent}
    while True:
        moving = [message_id for message_id, status in known.items() if status not in ("READ", "FAILED")]
        known |= {message_id: client.read(message_id)["status"] for message_id in moving}
        if set(known.values()) <= {"READ", "FAILED"} or time.monotonic() > deadline:
            return Counter(known.values())
        time.sleep(PAUSE_SECONDS)


def wrongs(client: Client, sent: Sequence[dict[str, Any]]) -> list[Violation]:
    """What is wrong between what the customer reads now and what left; `sent` as `send_many` made it."""
    promises = [_promise(f"message {number}", client.read(message["id"])) for number, message in enumerate(sent)]
    return balance(promises, sends_of(client.ledger()))


def _promise(name: str, known: dict[str, Any]) -> Promise:
    code = known.get("errorCode")
    return Promise(
        name=name,
        status=Status(known["status"]),
        error_code=ErrorCode(code) if code else None,
        duplicate_possible=known["duplicatePossible"],
    )


async def attempts_ended(system: System, client: Client) -> Counter[str]:
    """How many attempts ended how, from the dispatcher's own log of attempts."""
    connection = await asyncpg.connect(system.workspace.database_admin_url)
    try:
        rows = await connection.fetch(
            "SELECT outcome, count(*) AS n FROM dispatcher.attempts JOIN dispatcher.jobs USING (message_id, round)"
            " WHERE instance = $1 GROUP BY outcome",
            client.instance,
        )
        return Counter({row["outcome"]: row["n"] for row in rows})
    finally:
        await connection.close()
