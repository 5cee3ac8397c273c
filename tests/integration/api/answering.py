"""The dispatcher's side of questions, on its own tables and over the real broker, without anything that sends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from chassis.answers import Answerer
from chassis.database import Database
from chassis.testing.waiting import eventually
from contracts.registry import DISPATCHER
from contracts.topology import question_queue
from dispatcher.subscribers import answer_with
from dispatcher.tables import outbox
from dispatcher.usecases.cancel_messages import CancelJobs
from dispatcher.usecases.explain_message import DescribeNumber, ExplainJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatching:
    """A dispatcher that only answers."""

    database: Database

    async def write(self, statement: str, **parameters: Any) -> None:
        """Put its tables into a state."""
        async with self.database.transaction() as tx:
            await tx.execute(text(statement), parameters)

    async def claim(self, message_id: UUID) -> None:
        """As if the message were being handed to the gateway at this moment."""
        await self.write(
            """
            INSERT INTO dispatcher.jobs (message_id, round, tenant_id, project_id, number_id, instance, environment,
                                         category, correlation_id, tenant_weight, priority, urgent, state, due_at,
                                         deliver_until, recipient_hash, text_hash, attempt)
            VALUES (:id, 1, :id, :id, :id, 'x', 'TEST', 'UTILITY', 'c', 1, 1, false, 'IN_FLIGHT', now(),
                    now() + interval '1 hour', '', '', 1)
            """,
            id=message_id,
        )


@asynccontextmanager
async def answering(database_url: str, broker_url: str) -> AsyncIterator[Dispatching]:
    """Takes questions until the end of the block."""
    database = Database(database_url, outbox=outbox, pool_size=4, name="dispatching")
    handler = answer_with(
        CancelJobs(database=database), ExplainJob(database=database), DescribeNumber(database=database)
    )
    answerer = Answerer(broker_url, question_queue(DISPATCHER), handler)
    await answerer.start()
    try:
        await eventually(lambda: answerer.problem() is None, "the dispatcher takes questions")
        yield Dispatching(database=database)
    finally:
        await answerer.stop()
        await database.stop()
