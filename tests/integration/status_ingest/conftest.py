"""A database of our own with the schema of status-ingest, and the service's parts standing on it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from chassis.database import Database
from chassis.group_commit import GroupCommit
from chassis.health import Health
from chassis.seal import KeyRing, Pepper
from chassis.testing.template_database import TemplateDatabase
from chassis.web import add_shortcut, create_app
from contracts.facts import MessageDispatched
from contracts.facts.messages import Proof
from contracts.ids import uuid7
from contracts.registry import decode
from contracts.statement import Statement
from contracts.values import Category, Environment, MessageRef
from status_ingest.routes import RAW_PATHS, WebhookDoor
from status_ingest.tables import metadata, outbox
from status_ingest.usecases.adopt_receipts import AdoptReceipts
from status_ingest.usecases.forget_old import ForgetOld
from status_ingest.usecases.interpret_events import InterpretEvents
from status_ingest.usecases.keep_event import KeepEvent, store_arrivals
from status_ingest.usecases.learn_keys import Named, learn_keys
from status_ingest.usecases.settle_connections import SettleConnections
from status_ingest.usecases.watch_silence import WatchSilence

TOKEN, NEXT_TOKEN = "an-ingest-token-for-tests", "the-next-ingest-token"
KEY_RING = KeyRing.parse("k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
PEPPER = Pepper.parse("cGVwcGVyLXBlcHBlci1wZXBwZXItcGVwcGVyLXBlcHBlcg==")

Said = TypeVar("Said", bound=Statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Where the migrated schema is, for the service's role and for an administrator."""

    url: str
    admin_url: str


@pytest.fixture(scope="session")
async def schema(template_database: TemplateDatabase) -> AsyncIterator[Schema]:
    """The schema in a database of its own."""
    copy = await template_database.copy()
    yield Schema(url=copy.url("status_ingest"), admin_url=copy.admin_url)
    await template_database.discard(copy)


@dataclass(slots=True, kw_only=True)
class Service:
    """One replica: its HTTP edge, what it hears, and its loops run by hand."""

    database: Database
    app: FastAPI
    keep: KeepEvent
    client: httpx.AsyncClient
    interpreter: InterpretEvents
    keys: GroupCommit[Named, None]
    forget: ForgetOld
    adopt: AdoptReceipts
    settle: SettleConnections
    silence: WatchSilence
    woken: list[bool] = field(default_factory=list)

    async def post(self, payload: object, *, path: str = f"/webhooks/evolution/{TOKEN}") -> httpx.Response:
        """What the gateway does; `payload` may be bytes."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return await self.client.post(path, content=body, headers={"content-type": "application/json"})

    async def interpret(self) -> None:
        """Until nothing waits."""
        while await self.interpreter.step():
            pass

    async def rows(self, query: str, **parameters: Any) -> Sequence[Any]:
        """Look into the tables."""
        async with self.database.transaction() as tx:
            return (await tx.execute(text(query), parameters)).all()

    async def arrived(self, payload: object, *, seconds: float) -> None:
        """A post that was received `seconds` from now, as far as the database remembers."""
        await self.post(payload)
        await self.rows(
            "UPDATE status_ingest.raw_events SET received_at = clock_timestamp() + make_interval(secs => :seconds)"
            " WHERE id = (SELECT id FROM status_ingest.raw_events ORDER BY id DESC LIMIT 1) RETURNING 1",
            seconds=seconds,
        )

    async def said(self, kind: type[Said]) -> list[Said]:
        """Everything of one kind in the outbox, in the order of its saying."""
        rows = await self.rows(
            "SELECT type, body FROM status_ingest.outbox WHERE type = :type ORDER BY id", type=kind.TYPE
        )
        return [statement for row in rows if isinstance(statement := decode(row.type, row.body), kind)]


async def replica(url: str, stack: AsyncExitStack, *, pool_size: int = 5) -> Service:
    """Build the service's parts as its app does, without loops and broker."""
    database = Database(url, outbox=outbox, pool_size=pool_size, name="test")
    stack.push_async_callback(database.stop)
    arrivals = GroupCommit(database, store_arrivals)
    keys = GroupCommit(database, learn_keys)
    stack.push_async_callback(arrivals.stop)
    woken: list[bool] = []
    keep = KeepEvent(commits=arrivals, key_ring=KEY_RING, new_id=uuid7, kept=lambda: woken.append(True))
    app = create_app(service="status-ingest", health=Health(), title="test", raw_paths=RAW_PATHS)
    add_shortcut(app, WebhookDoor, keep=keep, tokens=(TOKEN, NEXT_TOKEN), clock=lambda: datetime.now(UTC))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ingest")
    await stack.enter_async_context(client)
    return Service(
        database=database,
        app=app,
        keep=keep,
        client=client,
        interpreter=InterpretEvents(database=database, key_ring=KEY_RING, pepper=PEPPER),
        keys=keys,
        forget=ForgetOld(database=database),
        adopt=AdoptReceipts(database=database),
        settle=SettleConnections(database=database),
        silence=WatchSilence(database=database),
        woken=woken,
    )


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    """Closes what a test opened."""
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def service(schema: Schema, stack: AsyncExitStack) -> Service:
    """One replica on empty tables."""
    built = await replica(schema.url, stack)
    async with built.database.transaction() as tx:
        names = ", ".join(str(table) for table in metadata.sorted_tables)
        await tx.execute(text(f"TRUNCATE {names}"))
    return built


@pytest.fixture
async def second(schema: Schema, stack: AsyncExitStack, service: Service) -> Service:
    """Another replica on the same tables."""
    return await replica(schema.url, stack)


def reference(instance: str = "loja", *, message_id: UUID | None = None) -> MessageRef:
    """A message of ours."""
    return MessageRef(
        message_id=message_id or uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance=instance,
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="order-1",
    )


def dispatched(ref: MessageRef, key_id: str) -> MessageDispatched:
    """The dispatcher's word that a message left under this key."""
    return MessageDispatched(ref=ref, attempt=1, key_id=key_id, dispatched_at=datetime.now(UTC), proof=Proof.RESPONSE)


def update(key_id: str, status: object, *, instance: str = "loja", **more: object) -> dict[str, object]:
    """A `messages.update` as version 2.3.7 posts it."""
    data = {"keyId": key_id, "remoteJid": "5547900000000@s.whatsapp.net", "fromMe": True, "status": status}
    return {"event": "messages.update", "instance": instance, "data": {**data, "messageId": "c1"}, **more}
