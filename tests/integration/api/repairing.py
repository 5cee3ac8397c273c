"""The reconciler's side of questions, on its own tables and over the real broker, without anything that passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from chassis.answers import Answerer
from chassis.clock import utc_now
from chassis.database import Database
from chassis.seal import KeyRing
from chassis.testing.waiting import eventually
from contracts.facts import MessageAccepted
from contracts.registry import RECONCILER
from contracts.topology import question_queue
from reconciler.domain.dead_letters import dead_letter_of
from reconciler.domain.ledger import LedgerFact
from reconciler.subscribers import answer_with
from reconciler.tables import outbox
from reconciler.usecases.file_dead_letters import FileDeadLetters
from reconciler.usecases.keep_ledger import KeepLedger, Told
from reconciler.usecases.read_letters import ReadLetters
from reconciler.usecases.settle_letters import SettleLetters
from reconciler.usecases.tell_books import TellBooks

from .running import SEAL_KEYS

KEYS = KeyRing.parse(SEAL_KEYS)
LANE = "messages--padaria"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """A reconciler that only answers."""

    database: Database
    answerer: Answerer

    async def bury(self, fact: MessageAccepted, *, queue: str = LANE) -> str:
        """A statement that its listener failed at; the id of its letter."""
        return await self.bury_raw(fact.body(), type_name=fact.TYPE, queue=queue)

    async def bury_raw(self, body: bytes, *, type_name: str, queue: str = LANE) -> str:
        """Anything at all."""
        now = datetime.now(UTC)
        letter = dead_letter_of(
            body=body,
            message_id=str(uuid4()),
            type_name=type_name,
            routing_key="k",
            headers={"x-death": [{"queue": queue, "reason": "rejected", "count": 1, "time": now}]},
            sent_at=now,
            now=now,
        )
        async with self.database.transaction() as tx:
            await FileDeadLetters(key_ring=KEYS).write(tx, [letter])
        return str(letter.id)

    async def hear(self, *facts: LedgerFact) -> None:
        """As the ledger hears them."""
        async with self.database.transaction() as tx:
            keep = KeepLedger(grace=timedelta(seconds=30))
            await keep.write(tx, [Told(fact=fact, occurred_at=datetime.now(UTC)) for fact in facts])

    async def forget(self) -> None:
        """Empty tables."""
        async with self.database.transaction() as tx:
            await tx.execute(text("TRUNCATE reconciler.ledger, reconciler.dead_letters, reconciler.outbox"))

    async def outgoing(self) -> list[Any]:
        """What is on its way to queues."""
        async with self.database.transaction() as tx:
            return list(await tx.execute(text("SELECT * FROM reconciler.outbox ORDER BY id")))


@asynccontextmanager
async def repairing(database_url: str, broker_url: str) -> AsyncIterator[Repairing]:
    """Takes questions until the end of the block."""
    database = Database(database_url, outbox=outbox, pool_size=3, name="repairing")
    handler = answer_with(
        ReadLetters(database=database, key_ring=KEYS, clock=utc_now),
        SettleLetters(database=database, key_ring=KEYS, clock=utc_now),
        TellBooks(database=database, clock=utc_now),
    )
    answerer = Answerer(broker_url, question_queue(RECONCILER), handler)
    await answerer.start()
    try:
        await eventually(lambda: answerer.problem() is None, "the reconciler takes questions")
        yield Repairing(database=database, answerer=answerer)
    finally:
        await answerer.stop()
        await database.stop()
