"""The whole way of receipts, without a broker: status-ingest, the api's fold, the notifier's plans; two of each."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import text
from tests.integration.api.folding import new_message
from tests.integration.notifier.rig import RING
from tests.integration.status_ingest.conftest import Service, dispatched
from tests.integration.status_ingest.conftest import replica as ingest_replica

from api.messages.domain.progress import Report, report_of
from api.messages.usecases.follow_progress import fold
from api.messages.usecases.store_accepted import store_accepted
from api.tables import OUTBOX
from chassis.clock import utc_now
from chassis.database import Database, Transaction, UnavailableError
from chassis.testing.template_database import TestDatabase
from contracts.facts import MessageStatusChanged
from contracts.ids import uuid7
from contracts.questions import EndpointRegistered, RegisterEndpoint
from contracts.registry import decode
from contracts.status import Status
from contracts.values import MessageContent, MessageRef
from notifier import tables as notifier_tables
from notifier.usecases.plan_deliveries import PlanDeliveries
from notifier.usecases.register_endpoint import RegisterWebhook

BATCH_MAX = 4


class KilledError(Exception):
    """Stands for the end of a process."""


@dataclass(frozen=True, slots=True)
class Dying:
    """A database whose transactions do everything but commit: mark and effect must go together."""

    database: Database

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        async with self.database.transaction() as tx:
            yield tx
            raise KilledError


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of one message: the api's row, the transitions it told, and the events a customer is owed."""

    status: Status
    transitions: Sequence[Status]
    events: Sequence[str]


@dataclass(slots=True, kw_only=True)
class Stage:
    """Two replicas of three services on one database, and the facts on their way between them."""

    ingest: Sequence[Service]
    api: Sequence[Database]
    notifier: Sequence[Database]
    dice: random.Random = field(default_factory=lambda: random.Random(1))
    happened: Counter[str] = field(default_factory=Counter)
    to_api: list[Report] = field(default_factory=list)
    to_notifier: list[MessageStatusChanged] = field(default_factory=list)
    read_up_to: dict[str, int] = field(default_factory=dict)

    async def accept(self, instance: str) -> MessageRef:
        """A message of a number that has one endpoint, which hears everything."""
        message = new_message()
        ref = message.accepted.ref.model_copy(update={"instance": instance})
        content = MessageContent(to="5547991234567", text="hi").model_dump_json().encode()
        accepted = message.accepted.model_copy(
            update={"ref": ref, "sealed": RING.seal(content, aad=ref.message_id.bytes)}
        )
        async with self.api[0].transaction() as tx:
            await store_accepted(tx, [replace(message, accepted=accepted)])
        register = RegisterWebhook(database=self.notifier[0], ring=RING, refusal_of=_nothing, clock=utc_now)
        asked = RegisterEndpoint(
            tenant_id=ref.tenant_id,
            number_id=ref.number_id,
            instance=instance,
            name="hook",
            url="https://customer.example/hook",
            events=("*",),
        )
        assert isinstance(await register(asked), EndpointRegistered)
        return ref

    async def post(self, payload: object) -> None:
        """The gateway posts to some replica."""
        assert (await self.dice.choice(self.ingest).post(payload)).status_code == 200

    async def hear_dispatched(self, ref: MessageRef, key_id: str) -> None:
        """The dispatcher's fact reaches status-ingest, at least once, and is on its way to the api."""
        fact = dispatched(ref, key_id)
        report = report_of(fact, statement_id=uuid7(), said_at=utc_now())
        assert report is not None
        self.to_api += [report] * self.dice.choice((1, 1, 2))
        hearing = self.dice.sample(self.ingest, self.dice.choice((1, 1, 2)))
        await asyncio.gather(*(service.keys.submit(fact) for service in hearing))

    async def work(self) -> None:
        """One round of everybody at once; some die before their commit."""
        dies = self.dice.random() < 0.3
        async with asyncio.timeout(60):
            await asyncio.gather(
                *(self._interpret(service, dies=dies and service is self.ingest[0]) for service in self.ingest),
                *(service.adopt.step() for service in self.ingest),
                *(self._fold(database) for database in self.api),
                *(self._plan(database) for database in self.notifier),
            )
        await self._collect()

    async def come_to_rest(self) -> None:
        """Until nobody has anything left to do."""
        for service in self.ingest:
            await service.interpret()
            while await service.adopt.step():
                pass
        await self._collect()
        while self.to_api or self.to_notifier:
            await asyncio.gather(
                *(self._fold(database) for database in self.api), *(self._plan(database) for database in self.notifier)
            )
            await self._collect()

    async def told(self, ref: MessageRef) -> Told:
        """What became of a message."""
        query = "SELECT body FROM api.outbox WHERE type = :type AND position(:id in convert_from(body, 'UTF8')) > 0"
        parameters = {"type": MessageStatusChanged.TYPE, "id": str(ref.message_id)}
        bodies = [row.body for row in await _rows(self.api[0], query, **parameters)]
        facts = sorted(map(MessageStatusChanged.model_validate_json, bodies), key=lambda fact: fact.version)
        (row,) = await _rows(self.api[0], "SELECT status FROM api.messages WHERE id = :id", id=ref.message_id)
        owed = "SELECT event FROM notifier.deliveries WHERE message_id = :id ORDER BY version"
        events = [each.event for each in await _rows(self.notifier[0], owed, id=ref.message_id)]
        return Told(status=Status(row.status), transitions=[fact.status for fact in facts], events=events)

    async def _interpret(self, service: Service, *, dies: bool) -> None:
        limit = self.dice.randint(1, 3)
        if not dies:
            await service.interpreter.interpret(limit=limit)
            return
        dying: Any = Dying(service.database)
        try:
            if await replace(service.interpreter, database=dying).interpret(limit=limit):
                raise AssertionError("the dying one committed")
        except KilledError:
            self.happened["died"] += 1

    async def _fold(self, database: Database) -> None:
        batch = self._some(self.to_api)
        if batch:
            await _insist(database, lambda tx: fold(tx, batch))

    async def _plan(self, database: Database) -> None:
        batch = self._some(self.to_notifier)
        if batch:
            await _insist(database, lambda tx: PlanDeliveries(ring=RING).write(tx, batch))

    def _some(self, waiting: list[Any]) -> list[Any]:
        """A few of them, in any order; now and then one of them will come again."""
        self.dice.shuffle(waiting)
        batch = [waiting.pop() for _ in range(min(len(waiting), self.dice.randint(1, BATCH_MAX)))]
        if batch and self.dice.random() < 0.2:
            waiting.append(batch[0])
            self.happened["delivered twice"] += 1
        return batch

    async def _collect(self) -> None:
        """What was said and not taken yet."""
        for row in await self._new_rows(self.ingest[0].database, "status_ingest"):
            report = report_of(decode(row.type, row.body), statement_id=row.statement_id, said_at=row.said_at)
            if report is not None:
                self.to_api.append(report)
        for row in await self._new_rows(self.api[0], "api"):
            fact = decode(row.type, row.body)
            if isinstance(fact, MessageStatusChanged) and fact.status is not Status.DISPATCHED:
                self.to_notifier.append(fact)

    async def _new_rows(self, database: Database, schema: str) -> Sequence[Any]:
        query = f"SELECT * FROM {schema}.outbox WHERE id > :after ORDER BY id"
        rows = await _rows(database, query, after=self.read_up_to.get(schema, 0))
        self.read_up_to[schema] = max((row.id for row in rows), default=self.read_up_to.get(schema, 0))
        return rows


@asynccontextmanager
async def open_stage(database: TestDatabase) -> AsyncIterator[Stage]:
    """Two replicas of each service; closed at the end."""
    async with AsyncExitStack() as stack:
        ingest = [await ingest_replica(database.url("status_ingest"), stack, pool_size=2) for _ in range(2)]
        api = [Database(database.url("api"), outbox=OUTBOX, pool_size=1, name="test") for _ in range(2)]
        notifier = [
            Database(database.url("notifier"), outbox=notifier_tables.outbox, pool_size=1, name="test")
            for _ in range(2)
        ]
        for opened in (*api, *notifier):
            stack.push_async_callback(opened.stop)
        yield Stage(ingest=ingest, api=api, notifier=notifier)


async def _insist(database: Database, write: Any) -> None:
    """As a group commit does: passing trouble is no failure."""
    while True:
        try:
            async with database.transaction() as tx:
                await write(tx)
            return
        except UnavailableError:
            await asyncio.sleep(0.01)


async def _rows(database: Database, query: str, **parameters: Any) -> Sequence[Any]:
    async with database.transaction() as tx:
        return (await tx.execute(text(query), parameters)).all()


async def _nothing(_: str) -> str | None:
    return None
