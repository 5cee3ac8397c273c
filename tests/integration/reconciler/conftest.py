"""A database and a virtual host of our own, and the reconciler's parts standing on them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from sqlalchemy import text

from chassis.database import Database
from chassis.group_commit import GroupCommit
from chassis.seal import KeyRing
from chassis.testing.template_database import TemplateDatabase
from chassis.testing.virtual_host import virtual_host
from contracts.facts import MessageAccepted
from contracts.registry import decode
from contracts.statement import Statement
from contracts.values import Category, Environment, MessageRef
from local_stack.backing import Backing
from reconciler.domain.dead_letters import DeadLetter
from reconciler.domain.ledger import LedgerFact
from reconciler.tables import metadata, outbox
from reconciler.usecases.file_dead_letters import FileDeadLetters
from reconciler.usecases.forget_old import ForgetOld
from reconciler.usecases.keep_ledger import KeepLedger, Told
from reconciler.usecases.reconcile import Reconcile

KEY_RING = KeyRing.parse("k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
START = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
GRACE, INTERVAL, RECOVERY_SLA = timedelta(seconds=30), timedelta(seconds=60), timedelta(minutes=10)

Said = TypeVar("Said", bound=Statement)


@pytest.fixture(scope="session")
async def database_url(template_database: TemplateDatabase) -> AsyncIterator[str]:
    """The reconciler's schema in a database of its own."""
    copy = await template_database.copy()
    yield copy.url("reconciler")
    await template_database.discard(copy)


@pytest.fixture(scope="session")
def broker_url(backing: Backing) -> Iterator[str]:
    """A virtual host nobody else talks on."""
    with virtual_host(backing.rabbitmq) as host:
        yield host.url


@dataclass(slots=True, kw_only=True)
class Service:
    """One replica, its passes run by hand at instants the test chooses."""

    database: Database
    entries: GroupCommit[Told, None]
    letters: GroupCommit[DeadLetter, None]
    reconcile: Reconcile
    forget: ForgetOld
    connected: list[bool] = field(default_factory=lambda: [True])

    async def hear(self, *facts: LedgerFact, at: datetime = START) -> None:
        """Facts said at `at`, in this order."""
        for fact in facts:
            await self.entries.submit(Told(fact=fact, occurred_at=at))

    async def rows(self, query: str, **parameters: Any) -> Sequence[Any]:
        """Look into the tables."""
        async with self.database.transaction() as tx:
            return (await tx.execute(text(query), parameters)).all()

    async def row(self) -> Any:
        """The only row of the ledger."""
        (row,) = await self.rows("SELECT * FROM reconciler.ledger")
        return row

    async def said(self, kind: type[Said]) -> list[Said]:
        """Everything of one kind in the outbox, in the order of its saying."""
        rows = await self.rows(
            "SELECT type, body FROM reconciler.outbox WHERE type = :type ORDER BY id", type=kind.TYPE
        )
        return [statement for row in rows if isinstance(statement := decode(row.type, row.body), kind)]


def replica(url: str, stack: AsyncExitStack) -> Service:
    """Build the service's parts as its app does, without loops and broker."""
    database = Database(url, outbox=outbox, pool_size=5, name="test")
    stack.push_async_callback(database.stop)
    connected = [True]
    return Service(
        database=database,
        entries=GroupCommit(database, KeepLedger(grace=GRACE).write),
        letters=GroupCommit(database, FileDeadLetters(key_ring=KEY_RING).write),
        reconcile=Reconcile(
            database=database,
            interval=INTERVAL,
            recovery_sla=RECOVERY_SLA,
            is_connected=lambda: connected[0],
            clock=lambda: datetime.now(UTC),
        ),
        forget=ForgetOld(database=database),
        connected=connected,
    )


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    """Closes what a test opened."""
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def service(database_url: str, stack: AsyncExitStack) -> Service:
    """One replica on empty tables."""
    built = replica(database_url, stack)
    async with built.database.transaction() as tx:
        names = ", ".join(str(table) for table in metadata.sorted_tables)
        await tx.execute(text(f"TRUNCATE {names}"))
    return built


@pytest.fixture
async def second(database_url: str, stack: AsyncExitStack, service: Service) -> Service:
    """Another replica on the same tables."""
    return replica(database_url, stack)


def reference(*, round_number: int = 1) -> MessageRef:
    """A message of ours."""
    return MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance="loja",
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="order-1",
        round=round_number,
    )


def accepted(ref: MessageRef, *, due_at: datetime = START, window: timedelta = timedelta(hours=1)) -> MessageAccepted:
    """The platform owes this message an end."""
    return MessageAccepted(
        ref=ref,
        deliver_by=due_at,
        deliver_until=due_at + window,
        sealed="sealed-content",
        recipient_hash="0" * 64,
        text_hash="1" * 64,
        accepted_at=START,
    )
