"""Folding facts: any order, any batch, any replica, and the same status, told once per transition."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import text

from api.messages.domain.progress import Report, report_of
from api.messages.usecases.follow_progress import FollowProgress, fold
from api.tables import OUTBOX
from chassis.database import Database
from chassis.group_commit import GroupCommit
from chassis.testing.template_database import TestDatabase
from contracts.errors import ErrorCode
from contracts.facts import MessageDispatched, MessageDispatchFailed, MessageLost, MessageStatusChanged
from contracts.facts.messages import Proof
from contracts.ids import uuid7
from contracts.status import RANK, Progress, Status, advance
from contracts.values import MessageRef

from .folding import NOW, Folder, new_message, report

LIFE = (Status.DISPATCHED, Status.SENT, Status.FAILED, Status.DELIVERED, Status.READ)
ORDERS = tuple(permutations(LIFE))


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


async def open_folder(database: TestDatabase, stack: AsyncExitStack) -> Folder:
    opened = Database(database.url("api"), outbox=OUTBOX, pool_size=2, name="test")
    stack.push_async_callback(opened.stop)
    return Folder(database=opened)


@pytest.fixture
async def folder(module_database: TestDatabase, stack: AsyncExitStack) -> Folder:
    """A replica on empty tables."""
    opened = await open_folder(module_database, stack)
    async with opened.database.transaction() as tx:
        await tx.execute(text("TRUNCATE api.messages, api.message_steps, api.outbox"))
    return opened


@pytest.fixture
async def second(module_database: TestDatabase, stack: AsyncExitStack, folder: Folder) -> Folder:
    """Another replica on the same tables."""
    return await open_folder(module_database, stack)


def transitions(order: Sequence[Status]) -> list[Status]:
    """What a message goes through when it hears `order` one by one."""
    known, passed = Progress(1, Status.QUEUED), []
    for status in order:
        moved = advance(known, Progress(1, status))
        passed.extend([moved.status] if moved != known else [])
        known = moved
    return passed


def assert_told_once(row: Any, told: Sequence[MessageStatusChanged]) -> None:
    """Dense versions, an unbroken chain of ranks upwards, and the row is where the last one says."""
    assert [fact.version for fact in told] == list(range(2, len(told) + 2))
    assert row.version == len(told) + 1
    assert [fact.previous for fact in told] == [Status.QUEUED, *(fact.status for fact in told[:-1])]
    assert all(RANK[fact.status] > RANK[fact.previous] for fact in told)
    assert row.status == told[-1].status
    assert {fact.sealed for fact in told} == {"sealed"}


async def test_case_1_every_order_one_by_one(folder: Folder) -> None:
    refs = await folder.accept(len(ORDERS))
    for position in range(len(LIFE)):
        await folder.fold(*(report(ref, order[position]) for ref, order in zip(refs, ORDERS, strict=True)))
    rows, told = await folder.messages(), await folder.told()
    for ref, order in zip(refs, ORDERS, strict=True):
        row = rows[ref.message_id]
        assert_told_once(row, told[ref.message_id])
        assert [fact.status for fact in told[ref.message_id]] == transitions(order)
        assert (row.status, row.error_code, row.external_id) == ("READ", None, "K1")
        assert row.dispatched_at == NOW + timedelta(seconds=RANK[Status.DISPATCHED])


@pytest.mark.parametrize("cut", range(len(LIFE) + 1))
async def test_case_1_every_order_in_two_batches(folder: Folder, cut: int) -> None:
    refs = await folder.accept(len(ORDERS))
    for part in (slice(None, cut), slice(cut, None)):
        batch = [report(ref, status) for ref, order in zip(refs, ORDERS, strict=True) for status in order[part]]
        if batch:
            await folder.fold(*batch)
    rows, told = await folder.messages(), await folder.told()
    for ref in refs:
        assert_told_once(rows[ref.message_id], told[ref.message_id])
        assert rows[ref.message_id].status == "READ"
        assert rows[ref.message_id].dispatched_at is not None
        assert rows[ref.message_id].external_id == "K1"


async def test_case_1_failed_is_left_only_by_proof_of_delivery(folder: Folder) -> None:
    stays, leaves = await folder.accept(2)
    await folder.fold(report(stays, Status.FAILED), report(leaves, Status.FAILED))
    await folder.fold(report(stays, Status.SENT), report(stays, Status.DISPATCHED), report(leaves, Status.DELIVERED))
    rows = await folder.messages()
    assert (rows[stays.message_id].status, rows[stays.message_id].error_code) == ("FAILED", "GATEWAY_REPORTED_ERROR")
    assert (rows[leaves.message_id].status, rows[leaves.message_id].error_code) == ("DELIVERED", None)


async def test_case_1_two_folders_at_once_end_alike_whoever_commits_last(folder: Folder, second: Folder) -> None:
    refs = await folder.accept(100)

    async def hear(replica: Folder, status: Status, order: Sequence[MessageRef]) -> None:
        for start in range(0, len(order), 10):
            await replica.fold(*(report(ref, status) for ref in order[start : start + 10]))

    async with asyncio.timeout(30):
        await asyncio.gather(
            hear(folder, Status.SENT, refs),
            hear(second, Status.READ, refs[::-1]),
            hear(folder, Status.DISPATCHED, refs[50:] + refs[:50]),
        )
    rows, told = await folder.messages(), await folder.told()
    for ref in refs:
        assert rows[ref.message_id].status == "READ"
        assert_told_once(rows[ref.message_id], told[ref.message_id])


async def test_case_49_replicas_that_hear_the_same_tell_it_once(folder: Folder, second: Folder) -> None:
    refs = await folder.accept(60)
    reports = [report(ref, status) for ref in refs for status in (Status.DISPATCHED, Status.SENT, Status.DELIVERED)]
    dice = random.Random(1)

    async def hear(replica: Folder) -> None:
        shuffled = dice.sample(reports, len(reports))
        for start in range(0, len(shuffled), 30):
            await replica.fold(*shuffled[start : start + 30])

    async with asyncio.timeout(30):
        await asyncio.gather(hear(folder), hear(second), hear(folder))
    rows, told = await folder.messages(), await folder.told()
    for ref in refs:
        assert rows[ref.message_id].status == "DELIVERED"
        assert_told_once(rows[ref.message_id], told[ref.message_id])
    async with folder.database.transaction() as tx:
        assert (await tx.execute(text("SELECT count(*) FROM api.message_steps"))).scalar_one() == len(reports)


async def test_repeats_change_nothing_in_one_batch_or_later(folder: Folder) -> None:
    (ref,) = await folder.accept(1)
    sent = report(ref, Status.SENT)
    await folder.fold(sent, sent, report(ref, Status.SENT))
    before = (await folder.messages())[ref.message_id]
    await folder.fold(sent)
    await folder.fold(report(ref, Status.SENT), report(ref, Status.DISPATCHED))
    after = (await folder.messages())[ref.message_id]
    assert (after.status, after.version, after.sent_at) == (before.status, before.version, before.sent_at)
    assert [fact.status for fact in (await folder.told())[ref.message_id]] == [Status.SENT]


async def test_a_fact_about_an_unknown_message_disturbs_nobody(folder: Folder) -> None:
    (ref,) = await folder.accept(1)
    await folder.fold(report(new_message().ref, Status.READ), report(ref, Status.SENT))
    assert (await folder.messages())[ref.message_id].status == "SENT"
    assert set(await folder.told()) == {ref.message_id}


async def test_an_older_round_is_history_and_a_newer_one_wins(folder: Folder) -> None:
    (ref,) = await folder.accept(1)
    await folder.fold(report(ref, Status.FAILED))
    await folder.fold(report(ref, Status.DISPATCHED, round=2))
    await folder.fold(report(ref, Status.READ), report(ref, Status.SENT, round=2))
    row = (await folder.messages())[ref.message_id]
    assert (row.status, row.round, row.error_code) == ("SENT", 2, None)
    async with folder.database.transaction() as tx:
        assert (await tx.execute(text("SELECT count(*) FROM api.message_steps"))).scalar_one() == 4
    rounds = [fact.ref.round for fact in (await folder.told())[ref.message_id]]
    assert rounds == [1, 2, 2]


async def test_a_possible_duplicate_is_shown_whenever_it_becomes_known(folder: Folder) -> None:
    early, late = await folder.accept(2)

    def dispatched(ref: MessageRef) -> Report:
        fact = MessageDispatched(
            ref=ref, attempt=2, key_id="K2", dispatched_at=NOW, proof=Proof.RESPONSE, duplicate_possible=True
        )
        found = report_of(fact, statement_id=uuid7(), said_at=NOW)
        assert found is not None
        return found

    await folder.fold(dispatched(early))
    await folder.fold(report(late, Status.READ))
    await folder.fold(dispatched(late))
    assert all(row.duplicate_possible for row in (await folder.messages()).values())


async def test_failures_carry_their_code(folder: Folder) -> None:
    refused, lost = await folder.accept(2)
    facts = (
        MessageDispatchFailed(ref=refused, attempt=1, error_code=ErrorCode.WHATSAPP_NOT_EXIST, failed_at=NOW),
        MessageLost(ref=lost, error_code=ErrorCode.DELIVERY_TIMEOUT, lost_at=NOW),
    )
    reports = [report_of(fact, statement_id=uuid7(), said_at=NOW) for fact in facts]
    await folder.fold(*(each for each in reports if each is not None))
    told = await folder.told()
    assert told[refused.message_id][0].error_code is ErrorCode.WHATSAPP_NOT_EXIST
    assert told[lost.message_id][0].error_code is ErrorCode.DELIVERY_TIMEOUT


async def test_callers_share_commits_and_each_returns_after_its_own(folder: Folder) -> None:
    refs = await folder.accept(50)
    follow = FollowProgress(commits=GroupCommit(folder.database, fold, commits_max=1))
    async with asyncio.timeout(30):
        await asyncio.gather(*(follow.follow(report(ref, status)) for ref in refs for status in LIFE))
    rows, told = await folder.messages(), await folder.told()
    for ref in refs:
        assert_told_once(rows[ref.message_id], told[ref.message_id])
        assert rows[ref.message_id].status == "READ"
