"""A status-ingest process alone with its schema, what its tables say, and the receipts it is posted."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
from tests.bench.http_load import Target
from tests.integration.dispatcher.process import outgoing

import status_ingest
from chassis.migrations import Migrations
from chassis.provisioning import provision
from chassis.publisher import Publisher
from chassis.testing.waiting import eventually
from contracts.facts import MessageDispatched
from contracts.facts.messages import Proof
from contracts.values import Category, Environment, MessageRef
from gateways.evolution.webhook_address import own_path
from local_stack.environment import Service
from local_stack.services import ServiceProcess
from local_stack.system import System
from status_ingest.tables import metadata

SCHEMA, INSTANCE = "status_ingest", "bench"
SETTLE_SECONDS_MAX = 600.0
WAITING = f"SELECT count(*) FROM {SCHEMA}.raw_events WHERE interpreted_at IS NULL"
TOLD = f"SELECT count(*) FROM {SCHEMA}.receipts WHERE recorded_at IS NOT NULL"
KNOWN = f"SELECT count(*) FROM {SCHEMA}.correlations WHERE ref IS NOT NULL"


@dataclass(slots=True, kw_only=True)
class Edge:
    """A status-ingest process, and what its tables say."""

    target: Target
    process: ServiceProcess
    database: "asyncpg.Connection[Any]"
    publisher: Publisher
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def bodies(self, count: int) -> list[Mapping[str, Any]]:
        """Receipts of messages that nobody knows."""
        return [receipt(f"3EB0{next(self.numbers):016X}") for _ in range(count)]

    async def known_bodies(self, count: int) -> list[Mapping[str, Any]]:
        """Receipts of messages that the dispatcher has told of, as nearly all are."""
        before = await self.count(KNOWN)
        keys = [f"3EB0{next(self.numbers):016X}" for _ in range(count)]
        await self.tell_of(keys)
        await self.until(KNOWN, before + count)
        return [receipt(key) for key in keys]

    async def tell_of(self, keys: Sequence[str]) -> None:
        """Say that messages of ours left under these keys."""
        await self.publisher.ensure_open()
        for start in range(0, len(keys), 500):
            await self.publisher.publish([outgoing(dispatched(key)) for key in keys[start : start + 500]])

    async def count(self, question: str) -> int:
        return int(await self.database.fetchval(question))

    async def until(self, question: str, answer: int) -> None:
        async def is_so() -> bool:
            return await self.count(question) == answer

        await eventually(is_so, f"{answer} = {question}", timeout_seconds=SETTLE_SECONDS_MAX)


@contextlib.asynccontextmanager
async def open_edge(system: System) -> AsyncIterator[Edge]:
    """Only status-ingest runs, with its own schema and nobody else's."""
    workspace, service = system.workspace, Service.STATUS_INGEST
    url = workspace.database_url(SCHEMA, system.credentials.database_passwords[service])
    await provision(workspace.database_admin_url, database_url=url, schema=SCHEMA)
    await Migrations(metadata=metadata, package=Path(str(status_ingest.__file__)).parent).upgrade(url)
    process = system.services[service]
    await asyncio.to_thread(process.start)
    publisher = Publisher(workspace.broker_url, source="bench")
    database = await asyncpg.connect(workspace.database_admin_url)
    address = f"{system.ports.url(service)}{own_path(system.credentials.ingest_token, INSTANCE)}"
    try:
        target = Target(url=address, headers={})
        yield Edge(target=target, process=process, database=database, publisher=publisher)
    finally:
        await publisher.close()
        await database.close()


def receipt(key_id: str) -> dict[str, Any]:
    """As version 2.3.7 posts it."""
    data = {"keyId": key_id, "remoteJid": "5547990000000@s.whatsapp.net", "fromMe": True, "status": "DELIVERY_ACK"}
    return {
        "event": "messages.update",
        "instance": INSTANCE,
        "data": {**data, "instanceId": str(uuid4()), "messageId": "cmx32aum50007967dh4znizq9"},
        "destination": "http://127.0.0.1/webhooks/evolution",
        "date_time": "2026-11-30T09:24:51.293Z",
        "sender": "5511900000000@s.whatsapp.net",
        "server_url": "http://127.0.0.1:18080",
        "apikey": None,
    }


def dispatched(key_id: str) -> MessageDispatched:
    """What the dispatcher says of a message that left under this key."""
    ref = MessageRef(
        message_id=uuid4(),
        tenant_id=uuid4(),
        project_id=uuid4(),
        number_id=uuid4(),
        instance=INSTANCE,
        environment=Environment.LIVE,
        category=Category.UTILITY,
        correlation_id="order-1",
    )
    return MessageDispatched(ref=ref, attempt=1, key_id=key_id, dispatched_at=datetime.now(UTC), proof=Proof.RESPONSE)
