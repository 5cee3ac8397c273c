"""Several replicas storing at once: limits and idempotency keys hold between them, and nobody waits in a circle."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from api.limits.domain import Charge, CounterKey, CounterName
from api.messages.domain.acceptance import NewMessage
from api.messages.domain.idempotency import Claim, Scope
from api.messages.domain.progress import Report, report_of
from api.messages.domain.receipt import Receipt
from api.messages.usecases.follow_progress import fold
from api.messages.usecases.store_accepted import store_accepted
from api.refusals import Refusal, RefusedError
from api.tables import OUTBOX
from chassis.database import Database
from chassis.group_commit import GroupCommit
from chassis.testing.template_database import TestDatabase
from contracts.errors import ErrorCode
from contracts.facts import MessageDispatchFailed
from contracts.ids import uuid7
from contracts.values import Environment, MessageRef

from .folding import NOW, new_message

REPLICAS = 3
Commits = GroupCommit[NewMessage, Receipt]


@pytest.fixture
async def databases(module_database: TestDatabase) -> AsyncIterator[list[Database]]:
    """Each replica's connections, to empty tables."""
    async with AsyncExitStack() as stack:
        opened = [
            Database(module_database.url("api"), outbox=OUTBOX, pool_size=2, name="test") for _ in range(REPLICAS)
        ]
        for database in opened:
            stack.push_async_callback(database.stop)
        async with opened[0].transaction() as tx:
            await tx.execute(text("TRUNCATE api.messages, api.outbox, api.usage, api.idempotency_keys"))
        yield opened


@pytest.fixture
def replicas(databases: list[Database]) -> list[Commits]:
    return [GroupCommit(database, store_accepted, size_max=5, linger_ms=0) for database in databases]


def charge(tenant_id: UUID, *, limit: int, day: int = 2) -> Charge:
    key = CounterKey(tenant_id=tenant_id, name=CounterName.LIVE_DAILY, period=date(2025, 6, day))
    return Charge(key=key, limit=limit, resets_at=NOW + timedelta(hours=12))


def month(tenant_id: UUID) -> Charge:
    key = CounterKey(tenant_id=tenant_id, name=CounterName.LIVE_MONTHLY, period=date(2025, 6, 1))
    return Charge(key=key, limit=1_000, resets_at=NOW + timedelta(days=29))


def expired(ref: MessageRef) -> Report:
    fact = MessageDispatchFailed(
        ref=ref, attempt=1, error_code=ErrorCode.MESSAGE_EXPIRED, detail="late", failed_at=NOW + timedelta(hours=1)
    )
    found = report_of(fact, statement_id=uuid7(), said_at=fact.failed_at)
    assert found is not None
    return found


async def submit(replicas: Sequence[Commits], messages: Sequence[NewMessage]) -> list[Receipt | BaseException]:
    """Each message to some replica, all at once."""
    work = (replicas[index % len(replicas)].submit(message) for index, message in enumerate(messages))
    async with asyncio.timeout(30):
        return await asyncio.gather(*work, return_exceptions=True)


def refusals(outcomes: Sequence[Receipt | BaseException]) -> list[Refusal]:
    errors = [outcome for outcome in outcomes if not isinstance(outcome, Receipt)]
    assert all(isinstance(error, RefusedError) for error in errors), errors
    return [error.refusal for error in errors if isinstance(error, RefusedError)]


async def number_of(database: Database, query: str) -> int:
    async with database.transaction() as tx:
        return int((await tx.execute(text(query))).scalar_one())


async def test_a_limit_holds_between_replicas(replicas: list[Commits], databases: list[Database]) -> None:
    tenant_id = uuid7()
    messages = [replace(new_message(), charges=(charge(tenant_id, limit=10),)) for _ in range(60)]
    outcomes = await submit(replicas, messages)
    assert refusals(outcomes) == [Refusal.LIVE_DAILY_LIMIT_EXCEEDED] * 50
    assert await number_of(databases[0], "SELECT count(*) FROM api.messages") == 10
    assert await number_of(databases[0], "SELECT sum(used) FROM api.usage") == 10
    assert await number_of(databases[0], "SELECT count(*) FROM api.outbox") == 10


async def test_case_47_a_key_is_claimed_once_between_replicas(
    replicas: list[Commits], databases: list[Database]
) -> None:
    project_id, number_id = uuid7(), uuid7()

    def message(key: str) -> NewMessage:
        scope = Scope(project_id=project_id, environment=Environment.LIVE, number_id=number_id, key=key)
        return replace(new_message(), claim=Claim(scope=scope, fingerprint=key))

    keys = [f"k{index % 6}" for index in range(90)]
    random.Random(7).shuffle(keys)
    outcomes = await submit(replicas, [message(key) for key in keys])
    assert refusals(outcomes) == []
    ids: dict[str, set[UUID]] = {}
    for key, outcome in zip(keys, outcomes, strict=True):
        assert isinstance(outcome, Receipt)
        ids.setdefault(key, set()).add(outcome.message_id)
    assert all(len(found) == 1 for found in ids.values())
    assert sum(isinstance(outcome, Receipt) and not outcome.replayed for outcome in outcomes) == 6
    assert await number_of(databases[0], "SELECT count(*) FROM api.messages") == 6


async def test_case_47_who_shares_a_commit_with_a_refused_send_of_its_key_is_told_so(databases: list[Database]) -> None:
    scope = Scope(project_id=uuid7(), environment=Environment.LIVE, number_id=uuid7(), key="k")
    full = (charge(uuid7(), limit=0),)
    messages = [replace(new_message(), claim=Claim(scope=scope, fingerprint=said), charges=full) for said in "aab"]
    async with databases[0].transaction() as tx:
        outcomes = await store_accepted(tx, messages)
    same, other = Refusal.LIVE_DAILY_LIMIT_EXCEEDED, Refusal.IDEMPOTENCY_KEY_IN_USE
    assert [outcome.refusal for outcome in outcomes if isinstance(outcome, RefusedError)] == [same, same, other]
    assert await number_of(databases[0], "SELECT count(*) FROM api.idempotency_keys") == 0


async def test_case_47_equal_keys_in_one_commit_are_one_message(databases: list[Database]) -> None:
    scope = Scope(project_id=uuid7(), environment=Environment.LIVE, number_id=uuid7(), key="k")
    messages = [replace(new_message(), claim=Claim(scope=scope, fingerprint=print_)) for print_ in "aaba"]
    async with databases[0].transaction() as tx:
        first, again, other, last = await store_accepted(tx, messages)
    assert isinstance(first, Receipt)
    assert not first.replayed
    assert again == last == first.again()
    assert isinstance(other, RefusedError)
    assert other.refusal is Refusal.IDEMPOTENCY_KEY_REUSED
    assert await number_of(databases[0], "SELECT count(*) FROM api.messages") == 1


async def test_accepting_and_giving_back_at_once_never_wait_in_a_circle(
    replicas: list[Commits], databases: list[Database]
) -> None:
    tenants, project_id, number_id = [uuid7() for _ in range(4)], uuid7(), uuid7()
    dice = random.Random(11)

    def message() -> NewMessage:
        made, tenant_id = new_message(), dice.choice(tenants)
        ref: MessageRef = made.ref.model_copy(update={"tenant_id": tenant_id})
        charges = (charge(tenant_id, limit=1_000, day=dice.randrange(1, 6)), month(tenant_id))
        scope = Scope(
            project_id=project_id, environment=Environment.LIVE, number_id=number_id, key=f"k{dice.randrange(400)}"
        )
        claim = Claim(scope=scope, fingerprint=scope.key)
        return replace(made, accepted=made.accepted.model_copy(update={"ref": ref}), charges=charges, claim=claim)

    async def give_back(refs: list[MessageRef], database: Database) -> None:
        for start in range(0, len(refs), 7):
            async with database.transaction() as tx:
                await fold(tx, [expired(ref) for ref in refs[start : start + 7]])

    first = [message() for _ in range(100)]
    stored = {outcome.message_id for outcome in await submit(replicas, first) if isinstance(outcome, Receipt)}
    refs = [made.ref for made in first if made.ref.message_id in stored]
    halves = [refs[index::2] for index in range(2)]
    folding = [
        asyncio.create_task(give_back(half, database)) for half, database in zip(halves, databases, strict=False)
    ]
    await submit(replicas, [message() for _ in range(200)])
    await asyncio.gather(*folding)
    open_messages = "SELECT count(*) FROM api.messages WHERE status = 'QUEUED'"
    assert await number_of(databases[0], "SELECT count(*) FROM api.messages WHERE usage_returned") == len(refs)
    for counter in CounterName.LIVE_DAILY, CounterName.LIVE_MONTHLY:
        used = await number_of(databases[0], f"SELECT sum(used) FROM api.usage WHERE counter = '{counter}'")
        assert used == await number_of(databases[0], open_messages)
