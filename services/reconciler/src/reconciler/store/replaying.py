"""Puts a dead letter back on its way: a row of the outbox, straight to the queue it died in."""

from collections.abc import Sequence

from sqlalchemy import insert

from chassis.database import Transaction
from contracts.ids import uuid7
from reconciler.domain.letters import Replay
from reconciler.tables import outbox

TO_THE_QUEUE = ""
"""The exchange that takes a queue's own name as the routing key: nobody else hears it a second time."""


async def put_back(tx: Transaction, replays: Sequence[Replay]) -> None:
    """Under the id and the time of the first saying, so that whoever heard it recognises it."""
    rows = [
        {
            "statement_id": replay.statement_id or uuid7(),
            "exchange": TO_THE_QUEUE,
            "routing_key": replay.queue,
            "type": replay.type,
            "body": replay.body,
            "headers": {},
            "said_at": replay.said_at,
        }
        for replay in replays
    ]
    await tx.execute(insert(outbox), rows)
