"""A database of our own with the notifier's schema, the notifier's parts standing on it, and a customer's server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest

from chassis.answers import Answerer
from chassis.questions import Asker
from chassis.testing.template_database import TemplateDatabase
from chassis.testing.virtual_host import virtual_host
from contracts.answers import read_answer
from contracts.questions import Question
from contracts.statement import Statement
from contracts.topology import question_queue
from local_stack.backing import Backing
from notifier.subscribers import answer_with
from notifier.usecases.list_endpoints import ListWebhooks

from .customer import Customer
from .rig import Builder, Schema, eventually

QUEUE = question_queue("notifier")
Ask = Callable[[Question], Any]


@pytest.fixture(scope="session")
async def schema(template_database: TemplateDatabase) -> AsyncIterator[Schema]:
    """The notifier's schema in a database of its own."""
    copy = await template_database.copy()
    yield Schema(url=copy.url("notifier"), admin_url=copy.admin_url)
    await template_database.discard(copy)


@pytest.fixture
async def customer() -> AsyncIterator[Customer]:
    """A customer's web server on loopback."""
    server = Customer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def build(schema: Schema) -> AsyncIterator[Builder]:
    """Replicas for one test, over empty tables."""
    admin = await asyncpg.connect(schema.admin_url)
    tables = ("endpoints", "deliveries", "delivery_attempts", "numbers", "outbox")
    await admin.execute(f"TRUNCATE {', '.join(f'notifier.{table}' for table in tables)}")
    await admin.close()
    async with AsyncExitStack() as stack:
        yield Builder(schema=schema, stack=stack)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], Awaitable[bool] | bool], str], Awaitable[None]]:
    """Polling with a deadline."""
    return eventually


@pytest.fixture(scope="module")
def vhost_url(backing: Backing) -> Iterator[str]:
    """A virtual host nobody else talks on."""
    with virtual_host(backing.rabbitmq) as host:
        yield host.url


@pytest.fixture
async def ask(rig: Any, vhost_url: str) -> AsyncIterator[Ask]:
    """Asks the module's `rig` over the broker, as the api does."""
    answers = answer_with(rig.register, ListWebhooks(database=rig.database), rig.manage, rig.attempt, rig.replay)
    answerer = Answerer(vhost_url, QUEUE, answers)
    asker = Asker(vhost_url, service="test")
    await answerer.start()
    await asker.start()
    await eventually(lambda: answerer.problem() is None, "taking questions")

    async def ask_one(question: Question) -> Statement:
        return read_answer(await asker.ask(QUEUE, question.body(), type=question.TYPE, timeout_seconds=10))

    yield ask_one
    await asker.stop()
    await answerer.stop()
